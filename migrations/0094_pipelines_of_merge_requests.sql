-- Pipelines that are made for merge requests.
alter table pipelines
  add column merge_request_id bigint,
  add constraint pipelines_merge_request_id_fkey foreign key (merge_request_id) references merge_requests(id) on delete set null;
create index pipelines_by_merge_request on pipelines using btree (merge_request_id, id) where merge_request_id is not null;
comment on column pipelines.merge_request_id is 'The merge request that it was made for.';
