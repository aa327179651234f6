"""PostgreSQL's functions, by what may be done with a call. Data only; a test compares it with a server."""

from __future__ import annotations

from typing import Final

from shardwise.planner.families import words

SCALARS: Final = words(
    """
    abs acos acosd acosh age area array_append array_cat array_dims array_fill array_length array_lower
    array_ndims array_position array_positions array_prepend array_remove array_replace array_to_json
    array_to_string array_to_tsvector array_upper ascii asin asind asinh atan atan2 atan2d atand atanh
    bit_count bit_length bound_box box broadcast btrim cardinality cbrt ceil ceiling center char_length
    character_length chr circle concat concat_ws convert convert_from convert_to cos cosd cosh cot cotd date
    date_bin date_part date_trunc datemultirange daterange dcbrt decode degrees dexp diagonal div dsqrt
    encode exp extract factorial family float4 float8 floor format gcd get_bit get_byte greatest hashint4
    hashint8 hashtext height host hostmask inet_merge inet_same_family initcap int2 int4 int4multirange
    int4range int8 int8multirange int8range is_normalized isclosed isempty isfinite isopen json_array_length
    json_build_array json_build_object json_extract_path json_extract_path_text json_object json_strip_nulls
    json_typeof jsonb_array_length jsonb_build_array jsonb_build_object jsonb_exists jsonb_exists_all
    jsonb_exists_any jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_path_exists
    jsonb_path_match jsonb_path_query_array jsonb_path_query_first jsonb_pretty jsonb_set jsonb_set_lax
    jsonb_strip_nulls jsonb_typeof justify_days justify_hours justify_interval lcm least left length line ln
    log log10 lower lower_inc lower_inf lpad lseg ltrim macaddr8_set7bit make_date make_interval make_time
    make_timestamp make_timestamptz masklen md5 min_scale mod multirange netmask network normalize npoints
    nullif num_nonnulls num_nulls numeric nummultirange numnode numrange octet_length overlaps overlay
    parse_ident path pclose pg_typeof phraseto_tsquery pi plainto_tsquery point polygon popen position pow
    power querytree quote_ident quote_literal quote_nullable radians radius range_merge regexp_count
    regexp_instr regexp_like regexp_match regexp_replace regexp_split_to_array regexp_substr repeat replace
    reverse right round row row_to_json rpad rtrim scale set_bit set_byte set_masklen setweight sha224
    sha256 sha384 sha512 sign sin sind sinh slope split_part sqrt starts_with string_to_array strip strpos
    substr substring tan tand tanh text time timestamp timestamptz timezone to_ascii to_char to_date to_hex
    to_json to_jsonb to_number to_timestamp to_tsquery to_tsvector translate trim trim_array trim_scale
    trunc ts_delete ts_filter ts_headline ts_rank ts_rank_cd tsmultirange tsquery_phrase tsrange
    tstzmultirange tstzrange tsvector_to_array unistr upper upper_inc upper_inf varchar websearch_to_tsquery
    width width_bucket xml_is_well_formed xmlcomment xpath xpath_exists
    """
)
"""Functions that give the same for the same arguments, in sessions that are set up alike."""

SAFE: Final = words(
    """
    char_length character_length concat concat_ws initcap length lower md5 nullif octet_length quote_ident
    quote_literal quote_nullable reverse upper
    """
)
"""Those of them that raise for no argument of theirs."""

AGGREGATES: Final = words(
    """
    array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp every json_agg
    json_object_agg jsonb_agg jsonb_object_agg max min mode percentile_cont percentile_disc range_agg
    range_intersect_agg regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
    regr_syy stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance xmlagg
    """
)

WINDOWS: Final = words(
    """
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
    """
)
"""Functions of windows (cume_dist, dense_rank, percent_rank and rank are aggregates too: WITHIN GROUP)."""

SETS: Final = words(
    """
    generate_series generate_subscripts json_array_elements json_array_elements_text json_each
    json_each_text json_object_keys json_populate_recordset json_to_record json_to_recordset
    jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys
    jsonb_path_query jsonb_populate_recordset jsonb_to_record jsonb_to_recordset regexp_matches
    regexp_split_to_table string_to_table ts_debug ts_parse ts_token_type unnest
    """
)
"""Functions that give rows."""

VOLATILE: Final = words("clock_timestamp gen_random_uuid random statement_timestamp timeofday")

CLOCKS: Final = words("now transaction_timestamp")

SYNTAX: Final = words("array coalesce exists grouping")
"""Words of SQL that are written as a call."""

SESSION: Final = words(
    """
    current_catalog current_database current_role current_schema current_user session_user user version
    """
)
"""What the session is, which differs between servers."""
