-- Whom the source's word makes of a placeholder: a source can claim any address, so the person is asked (docs/reference/placeholders.md#proposals).
alter table placeholders
  add proposed_user_id bigint references users on delete set null,
  add proposed_by_id   bigint references users on delete set null;
create index placeholders_by_proposal on placeholders (proposed_user_id, user_id) where proposed_user_id is not null;
create index placeholders_by_proposer on placeholders (proposed_by_id) where proposed_by_id is not null;

-- Servers whose word is taken, as origins: https://git.example.com.
alter table application_settings add bulk_import_trusted_sources text[] not null default '{}';
