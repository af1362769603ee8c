-- Who can use the wikis of projects and groups, and how large their pages can be.
set local lock_timeout = '5s';

alter table projects
  add column wiki_access_level text not null default 'enabled' check (wiki_access_level in ('disabled', 'private', 'enabled'));
alter table namespaces
  add column wiki_access_level text not null default 'enabled' check (wiki_access_level in ('disabled', 'private', 'enabled'));

-- The level decides on rights as those of the other features do.
drop trigger raise_rights_version on projects;
create trigger raise_rights_version
  after insert or delete or update of
    namespace_id, name, path, full_path, visibility, storage, default_branch, empty_repo, archived, marked_for_deletion_at, import_status, freeze_blocks_pushes,
    issues_access_level, repository_access_level, merge_requests_access_level, forking_access_level, snippets_access_level, environments_access_level,
    wiki_access_level
  on projects for each statement execute function raise_rights_version();

alter table application_settings
  add column wiki_page_max_content_bytes integer not null default 5242880 check (wiki_page_max_content_bytes >= 1024);
