-- Whether a push removes the approvals of the code owners whose files it changes, where it does not remove all.
alter table projects
  add column selective_code_owner_removals boolean not null default false,
  add constraint projects_removals_are_selective_or_complete check (not (selective_code_owner_removals and reset_approvals_on_push));
