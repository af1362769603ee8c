-- Who has approved a merge request.
create table merge_request_approvals (
  merge_request_id bigint not null references merge_requests on delete cascade,
  user_id          bigint not null references users on delete cascade,
  created_at       timestamptz not null default now(),
  primary key (merge_request_id, user_id)
);
create index merge_request_approvals_by_user on merge_request_approvals (user_id, merge_request_id);
