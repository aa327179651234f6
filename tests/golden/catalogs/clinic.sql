-- PostgreSQL databases in PostgreSQL's own dialect.
CREATE CATALOG clinic DIALECT postgres;
CREATE SOURCE s{n} FOR n IN 0-3 URL 'postgresql://app@db{n}.example/clinic';
CREATE SHARDING by_patient USING MOD 4 ON s{slot};
CREATE TABLE patients (id BIGINT PRIMARY KEY, name TEXT, email TEXT COLLATE "folding", born DATE, weight NUMERIC(6,2), tags TEXT[])
  SHARD BY by_patient (id);
CREATE TABLE visits (id BIGINT, patient_id BIGINT, at TIMESTAMPTZ, cost NUMERIC(10,2), notes JSONB) SHARD BY by_patient (patient_id);
CREATE TABLE wards (code TEXT, label TEXT) REFERENCE ON by_patient;
