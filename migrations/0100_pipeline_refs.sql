-- A pipeline keeps its commit in the repository by a ref of its own, until its jobs have ended.
alter table pipelines add column has_ref boolean default false not null;
create index pipelines_with_ref on pipelines using btree (id) where has_ref;
comment on column pipelines.has_ref is 'Whether the repository may have a ref that keeps its commit for its jobs.';
