-- Merge requests that were merged although who approved them was too close, or too few (docs/reference/compliance_frameworks.md#violations).
create table compliance_violations (
  id bigint generated always as identity not null,
  project_id bigint not null,
  merge_request_id bigint not null,
  reason text not null,
  violating_user_id bigint,
  merged_at timestamp with time zone not null,
  constraint compliance_violations_pkey primary key (id),
  constraint compliance_violations_key unique nulls not distinct (merge_request_id, reason, violating_user_id),
  constraint compliance_violations_reason_check check (reason in ('approved_by_author', 'approved_by_committer', 'approved_by_insufficient_users')),
  constraint compliance_violations_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint compliance_violations_merge_request_id_fkey foreign key (merge_request_id) references merge_requests(id) on delete cascade,
  constraint compliance_violations_violating_user_id_fkey foreign key (violating_user_id) references users(id) on delete set null
);
create index compliance_violations_by_project on compliance_violations using btree (project_id, id);
create index compliance_violations_by_user on compliance_violations using btree (violating_user_id) where violating_user_id is not null;
comment on table compliance_violations is 'What was wrong with the approvals of merge requests when they were merged.';
comment on column compliance_violations.violating_user_id is 'Who approved, or, for too few approvals, who merged.';
