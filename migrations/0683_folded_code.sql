-- Texts of the index of code are kept in lower case, so that a search need not fold what it reads. Those that were there, and those that a server of the
-- version before still writes, are folded by a job, and until then found as before.
set local lock_timeout = '5s';
alter table code_blobs add column is_folded boolean not null default false;
