-- What is marked for deletion frees its name and path at once. Marked groups and projects are few, so this needs no backfill.
update namespaces set name = name || '-deletion_scheduled-' || id, path = path || '-deletion_scheduled-' || id
 where marked_for_deletion_at is not null;
update projects set name = name || '-deletion_scheduled-' || id, path = path || '-deletion_scheduled-' || id
 where marked_for_deletion_at is not null;

-- The redirects of the old paths are kept by the triggers of these columns.
update namespaces set full_path = (
         select string_agg(step.path, '/' order by array_position(namespaces.traversal_ids, step.id))
           from namespaces step where step.id = any(namespaces.traversal_ids))
 where exists (select from namespaces marked where marked.id = any(namespaces.traversal_ids) and marked.marked_for_deletion_at is not null);
update projects set full_path = namespaces.full_path || '/' || projects.path
  from namespaces
 where namespaces.id = projects.namespace_id and projects.full_path <> namespaces.full_path || '/' || projects.path;
