"""MySQL's and MariaDB's functions, by what may be done with a call. Data only."""

from __future__ import annotations

from typing import Final

from shardwise.planner.families import words

SCALARS: Final = words(
    """
    ! abs acos add_months adddate addtime aes_decrypt aes_encrypt ascii asin atan atan2 bin binary bit_count
    bit_length cast ceil ceiling char char_length character_length chr coalesce coercibility charset collation
    column_check column_exists column_get column_json column_list compress concat concat_ws conv convert
    convert_tz cos cot crc32 crc32c date date_add date_format date_sub datediff day dayname dayofmonth
    dayofweek dayofyear decode degrees elt encode encrypt exp export_set extract extractvalue field
    find_in_set floor format from_base64 from_days from_unixtime get_format greatest hex hour if ifnull
    inet6_aton inet6_ntoa inet_aton inet_ntoa insert instr interval is_ipv4 is_ipv4_compat is_ipv4_mapped
    is_ipv6 isnull json_array json_array_append json_array_insert json_compact json_contains
    json_contains_path json_depth json_detailed json_equals json_exists json_extract json_insert
    json_keys json_length json_loose json_merge json_merge_patch json_merge_preserve json_normalize
    json_object json_overlaps json_pretty json_query json_quote json_remove json_replace json_search
    json_set json_type json_unquote json_valid json_value last_day lcase least left length lengthb ln
    locate log log10 log2 lower lpad ltrim make_set makedate maketime md5 microsecond mid minute mod
    month monthname natural_sort_key nullif nvl nvl2 oct octet_length old_password ord password
    period_add period_diff pi position pow power quarter quote radians regexp_instr regexp_replace
    regexp_substr repeat replace reverse right round row rpad rtrim sec_to_time second sformat sha sha1
    sha2 sign sin soundex space sqrt str_to_date strcmp subdate substr substring substring_index subtime
    tan time time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64 to_char
    to_days to_seconds trim truncate ucase uncompress uncompressed_length unhex unix_timestamp updatexml
    upper value week weekday weekofyear weight_string year yearweek
    """
)
"""Functions that give the same for the same arguments. `interval`, `binary`, `!` and `hex` are forms too."""

RAISING: Final = words("abs cot degrees exp pow power")
"""Those of SCALARS that raise where the result is out of range: `abs` of the least BIGINT, `exp(999)`."""

ZONED: Final = words("from_unixtime unix_timestamp convert_tz")
"""Those that depend on the session's time zone, which all sources share."""

CLOCKS: Final = words(
    """
    now current_timestamp sysdate curdate current_date curtime current_time utc_date utc_time utc_timestamp
    """
)
"""The statement's moment; beside them UNIX_TIMESTAMP() of nothing."""

VOLATILE: Final = words("rand uuid uuid_short sys_guid random_bytes")
"""Functions that give another value for each row."""

AGGREGATES: Final = words(
    """
    count sum avg min max group_concat bit_and bit_or bit_xor stddev stddev_pop stddev_samp var_pop var_samp
    variance json_arrayagg json_objectagg
    """
)

WINDOWS: Final = words(
    "lag lead first_value last_value nth_value ntile median percentile_cont percentile_disc"
)
"""Functions of windows alone, beside ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK and CUME_DIST."""

SESSION: Final = words(
    """
    connection_id current_role current_user database default found_rows last_insert_id lastval name_const
    nextval row_count rownum schema session_user setval system_user user values version
    """
)
"""What belongs to one connection, server or table: there are several here."""

REACHING: Final = words(
    """
    benchmark binlog_gtid_pos get_lock is_free_lock is_used_lock load_file master_gtid_wait master_pos_wait
    release_all_locks release_lock sleep wsrep_last_seen_gtid wsrep_last_written_gtid
    wsrep_sync_wait_upto_gtid
    """
)
"""What reaches out of the data, or keeps a server busy."""
