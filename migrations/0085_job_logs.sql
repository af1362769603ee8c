-- What the server remembers of a job that a runner holds, so that its log shows no masked value.
alter table job_runs add column masked_values bytea;
comment on column job_runs.masked_values is 'A list as JSON, encrypted: the values that its log must not show.';
