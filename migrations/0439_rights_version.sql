-- What callers may do is kept by the processes while nothing changes it. Each transaction that changes a row that rights depend on raises the version of
-- rights, the sum of these rows. There are several, so that no transaction waits for another.
create table rights_versions (
  id      integer generated always as identity primary key,
  version bigint not null default 1
) with (fillfactor = 50);
insert into rights_versions default values;

create function raise_rights_version() returns trigger language plpgsql as $$
begin
  update rights_versions set version = version + 1
   where id = (select id from rights_versions order by id for update skip locked limit 1);
  if not found then
    insert into rights_versions default values;
  end if;
  return null;
end
$$;

-- Columns that change with every use, and decide on no right, are left out.
set local lock_timeout = '5s';
create trigger raise_rights_version
  after insert or delete or update of user_id, scopes, token_digest, revoked, expires_at, impersonation
  on personal_access_tokens for each statement execute function raise_rights_version();
create trigger raise_rights_version
  after insert or delete or update of username, name, email, commit_email, state, user_type, admin, external, confirmed_at, created_at
  on users for each statement execute function raise_rights_version();
create trigger raise_rights_version
  after insert or delete or update of user_id, is_primary, confirmed_at
  on emails for each statement execute function raise_rights_version();
create trigger raise_rights_version
  after insert or delete or update of
    namespace_id, name, path, full_path, visibility, storage, default_branch, empty_repo, archived, marked_for_deletion_at, import_status, freeze_blocks_pushes,
    issues_access_level, repository_access_level, merge_requests_access_level, forking_access_level, snippets_access_level, environments_access_level
  on projects for each statement execute function raise_rights_version();
create trigger raise_rights_version after insert or update or delete on namespaces for each statement execute function raise_rights_version();
create trigger raise_rights_version after insert or update or delete on project_authorizations for each statement execute function raise_rights_version();
create trigger raise_rights_version after insert or update or delete on group_authorizations for each statement execute function raise_rights_version();
create trigger raise_rights_version after insert or update or delete on access_token_bots for each statement execute function raise_rights_version();
create trigger raise_rights_version after insert or update or delete on member_roles for each statement execute function raise_rights_version();
create trigger raise_rights_version after insert or update or delete on licenses for each statement execute function raise_rights_version();
create trigger raise_rights_version after insert or update or delete on application_settings for each statement execute function raise_rights_version();
