-- Each order of lists of projects, with the columns that decide who sees a project: a page finds its projects without reading those before it.
drop index projects_by_name, projects_by_path, projects_by_update, projects_by_activity, projects_by_stars, projects_by_namespace, projects_public;
create index projects_newest on projects (id) include (namespace_id, visibility, marked_for_deletion_at);
create index projects_by_name on projects (name, id) include (namespace_id, visibility, marked_for_deletion_at);
create index projects_by_path on projects (path, id) include (namespace_id, visibility, marked_for_deletion_at);
create index projects_by_update on projects (updated_at, id) include (namespace_id, visibility, marked_for_deletion_at);
create index projects_by_activity on projects (last_activity_at, id) include (namespace_id, visibility, marked_for_deletion_at);
create index projects_by_stars on projects (star_count, id) include (namespace_id, visibility, marked_for_deletion_at);
create index projects_by_namespace on projects (namespace_id, id) include (visibility, marked_for_deletion_at);
create index projects_public on projects (id) include (namespace_id, visibility, marked_for_deletion_at) where visibility <> 'private';
