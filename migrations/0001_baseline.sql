-- The schema as it was when the migrations before it were put together. docs/schema.sql has the present one.

-- Functions come first, and their bodies name tables.
set local check_function_bodies = off;

create extension if not exists btree_gin;
create extension if not exists btree_gist;
create extension if not exists citext;
create extension if not exists pg_trgm;

CREATE OR REPLACE FUNCTION public.announce_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if coalesce(current_setting('coppice.announced_events', true), '') = '' then
    perform pg_advisory_xact_lock_shared(726674, (select last_value - (not is_called)::int from events_id_seq)::bit(32)::int);
    perform set_config('coppice.announced_events', 'yes', true);
  end if;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.arrives_counted()
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(current_setting('coppice.arrives_counted', true), '') = 'yes'
$function$;
CREATE OR REPLACE FUNCTION public.best_label_priority(issue bigint, project bigint)
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$
  select min(label_priorities.priority) from issue_labels join label_priorities using (label_id)
   where issue_labels.issue_id = issue and label_priorities.project_id = project
$function$;
CREATE OR REPLACE FUNCTION public.best_label_priority_of_merge_request(merge_request bigint, project bigint)
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$
  select min(label_priorities.priority) from merge_request_labels join label_priorities using (label_id)
   where merge_request_labels.merge_request_id = merge_request and label_priorities.project_id = project
$function$;
CREATE OR REPLACE FUNCTION public.count_open_issues()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  sign integer := case tg_op when 'INSERT' then 1 else -1 end;
begin
  -- With a whole project its counts go as well: it is gone already when its issues go.
  insert into open_issue_counts (project_id, opened, confidential)
  select project_id, sign * count(*), sign * count(*) filter (where confidential)
    from changed join projects on projects.id = changed.project_id where state = 'opened' group by project_id;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.count_stars()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update projects set star_count = star_count + case tg_op when 'INSERT' then 1 else -1 end
   where id = coalesce(new.project_id, old.project_id);
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.end_todos_of_access_request()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update todos set state = 'done', updated_at = now() where access_request_id = old.id and state = 'pending';
  return old;
end $function$;
CREATE OR REPLACE FUNCTION public.give_milestone_due_date()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update issues set milestone_due_date = new.due_date where milestone_id = new.id;
  update merge_requests set milestone_due_date = new.due_date where milestone_id = new.id;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.hand_discussion_on()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update notes set starts_discussion = true
   where id = (select id from notes where discussion_id = old.discussion_id order by created_at, id limit 1);
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_label_priority_of_issues()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update issues set label_priority = best_label_priority(issues.id, issues.project_id)
   where issues.id in (select issue_id from changed join label_priorities using (label_id))
     and label_priority is distinct from best_label_priority(issues.id, issues.project_id);
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_label_priority_of_merge_requests()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update merge_requests set label_priority = best_label_priority_of_merge_request(id, project_id)
   where id in (select merge_request_id from changed join label_priorities using (label_id))
     and label_priority is distinct from best_label_priority_of_merge_request(id, project_id);
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_label_priority_of_project()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  priority label_priorities := case tg_op when 'DELETE' then old else new end;
begin
  update issues set label_priority = best_label_priority(issues.id, issues.project_id)
   where project_id = priority.project_id and id in (select issue_id from issue_labels where label_id = priority.label_id);
  update merge_requests set label_priority = best_label_priority_of_merge_request(id, project_id)
   where project_id = priority.project_id and id in (select merge_request_id from merge_request_labels where label_id = priority.label_id);
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_old_path()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from redirects where path = new.full_path;
  if tg_op = 'UPDATE' then
    insert into redirects (path, namespace_id, project_id)
    values (old.full_path, case tg_table_name when 'namespaces' then new.id end, case tg_table_name when 'projects' then new.id end)
    on conflict (path) do update set namespace_id = excluded.namespace_id, project_id = excluded.project_id, created_at = now();
  end if;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_references_in_place()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform refuse_while_moving(new.project_id, new.snippet_id, new.wiki_id, new.storage);
  return new;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_removed_issue_numbers()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- With a whole project nothing has to be remembered: it is gone already when its issues go.
  insert into removed_issue_numbers (project_id, iid)
  select removed.project_id, removed.iid from removed join projects on projects.id = removed.project_id
  on conflict do nothing;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_topics()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  before citext[] := case when tg_op = 'INSERT' then '{}' else old.topics::citext[] end;
  after  citext[] := '{}';
begin
  if tg_op <> 'DELETE' then
    insert into topics (name, title)
    select distinct on (given::citext) given, given from unnest(new.topics) given order by given::citext, given
        on conflict (name) do nothing;
    new.topics := array(select name::text collate "C" from topics where name = any(new.topics::citext[]) order by 1);
    after := new.topics::citext[];
  end if;
  -- In one order, so that two statements that change the same topics wait for each other.
  with changed as (
    select id, (name = any(before))::integer as was, (name = any(after))::integer as is_now from topics
     where name = any(before || after) order by id for no key update)
  update topics
     set total_projects_count  = total_projects_count  + is_now - was,
         public_projects_count = public_projects_count + case when new.visibility = 'public'   then is_now else 0 end
                                                       - case when old.visibility = 'public'   then was    else 0 end,
         shown_projects_count  = shown_projects_count  + case when new.visibility <> 'private' then is_now else 0 end
                                                       - case when old.visibility <> 'private' then was    else 0 end
    from changed
   where changed.id = topics.id and (is_now <> was or new.visibility <> old.visibility);
  return case when tg_op = 'DELETE' then old else new end;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_unused_avatar()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into unused_blobs (key) values (old.avatar_key) on conflict do nothing;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_unused_dependency_export()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into unused_blobs (key) select blob_key from removed where blob_key is not null on conflict do nothing;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_unused_image()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into unused_blobs (key) select blob_key from removed on conflict do nothing;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_unused_picture()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into unused_blobs (key) values (old.blob_key) on conflict do nothing;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_unused_relation_export()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into unused_blobs (key) values (old.blob_key) on conflict do nothing;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_unused_repository()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update unused_repositories set due_at = now() where kind = tg_argv[0] and id in (select id from removed);
  insert into unused_repositories (kind, id, storage, due_at) select tg_argv[0], id, storage, now() from removed
      on conflict (kind, id, storage) do update set due_at = now();
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_unused_source_map()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into unused_blobs (key) select blob_key from removed on conflict do nothing;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_unused_upload()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into unused_blobs (key) select distinct blob_key from removed on conflict do nothing;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_user_notes_count()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  change integer := case tg_op when 'INSERT' then 1 else -1 end;
  note notes := case tg_op when 'INSERT' then new else old end;
begin
  if note.issue_id is not null then
    update issues set user_notes_count = user_notes_count + change where id = note.issue_id;
  elsif note.epic_id is not null then
    update epics set user_notes_count = user_notes_count + change where id = note.epic_id;
  elsif note.merge_request_id is not null then
    update merge_requests set user_notes_count = user_notes_count + change where id = note.merge_request_id;
  end if;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_votes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  change integer := case tg_op when 'INSERT' then 1 else -1 end;
  award award_emoji := case tg_op when 'INSERT' then new else old end;
  up integer := case award.name when 'thumbsup' then change else 0 end;
  down integer := case award.name when 'thumbsdown' then change else 0 end;
begin
  if award.issue_id is not null then
    update issues set upvotes = upvotes + up, downvotes = downvotes + down where id = award.issue_id;
  elsif award.epic_id is not null then
    update epics set upvotes = upvotes + up, downvotes = downvotes + down where id = award.epic_id;
  elsif award.merge_request_id is not null then
    update merge_requests set upvotes = upvotes + up, downvotes = downvotes + down where id = award.merge_request_id;
  end if;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_what_moves()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.state = 'started' then
    raise exception using errcode = 'CPC01', message = 'The repository is temporarily read-only. Please try again later.';
  end if;
  return old;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_wiki_in_place()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform refuse_while_container_moves(new.project_id, null, new.group_id, new.storage);
  return new;
end $function$;
CREATE OR REPLACE FUNCTION public.make_replica_due()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- Loading a backup makes the trigger one for all changes.
  if current_setting('session_replication_role') <> 'replica' then return null; end if;
  insert into public.geo_replicas as replica (replicable, record, event_id) values (new.replicable, new.record, new.id)
      on conflict (replicable, record) do update
     set event_id = greatest(replica.event_id, excluded.event_id),
         state = case replica.state when 'started' then 'started' else 'pending' end,
         retry_at = case replica.state when 'started' then replica.retry_at else now() end,
         retry_count = case replica.state when 'started' then replica.retry_count else 0 end;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.md5_of_key(key text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  encoded text := rtrim((regexp_match(key, '^\S+\s+(\S+)'))[1], '=');
begin
  return md5(decode(encoded || repeat('=', -length(encoded) & 3), 'base64'));
exception when invalid_parameter_value then
  return null;
end
$function$;
CREATE OR REPLACE FUNCTION public.place_issue_last()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.relative_position := new.id << 20;
  return new;
end $function$;
CREATE OR REPLACE FUNCTION public.raise_rights_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update rights_versions set version = version + 1
   where id = (select id from rights_versions order by id for update skip locked limit 1);
  if not found then
    insert into rights_versions default values;
  end if;
  return null;
end
$function$;
CREATE OR REPLACE FUNCTION public.record_blob_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform record_geo_event('uploads', case when tg_op = 'DELETE' then old.key else new.key end);
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.record_geo_event(a_replicable text, a_record text)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into geo_events (replicable, record)
  select a_replicable, a_record where exists (select from geo_cursors where name = 'recording')
$function$;
CREATE OR REPLACE FUNCTION public.record_lfs_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform record_geo_event('lfs_objects', 'lfs/' || oid) from lfs_objects
    where id = case when tg_op = 'DELETE' then old.lfs_object_id else new.lfs_object_id end;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.record_repository_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  changed record;
  a_wiki  bigint;
begin
  if tg_op = 'DELETE' then changed := old; else changed := new; end if;
  case tg_table_name
    when 'projects' then perform record_geo_event('project_repositories', changed.id::text);
    when 'snippets' then perform record_geo_event('snippet_repositories', changed.id::text);
    when 'wikis' then
      perform record_geo_event(case when changed.project_id is null then 'group' else 'project' end || '_wiki_repositories', changed.id::text);
    when 'reference_updates' then
      if changed.project_id is not null then perform record_geo_event('project_repositories', changed.project_id::text);
      elsif changed.snippet_id is not null then perform record_geo_event('snippet_repositories', changed.snippet_id::text);
      else
        perform record_geo_event(case when project_id is null then 'group' else 'project' end || '_wiki_repositories', id::text)
           from wikis where id = changed.wiki_id;
      end if;
  end case;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.recount_open_issue()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into open_issue_counts (project_id, opened, confidential)
  select project_id, sum(sign), coalesce(sum(sign) filter (where confidential), 0)
    from (values (-1, old.project_id, old.state, old.confidential), (1, new.project_id, new.state, new.confidential)) side(sign, project_id, state, confidential)
   where state = 'opened' group by project_id;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.refuse_while_container_moves(a_project bigint, a_snippet bigint, a_group bigint, used_storage text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  storage_now text;
begin
  if a_project is not null then select storage into storage_now from projects where id = a_project for key share;
  elsif a_snippet is not null then select storage into storage_now from snippets where id = a_snippet for key share;
  else select repository_storage into storage_now from namespaces where id = a_group for key share;
  end if;
  if storage_now <> used_storage or exists (
    select from repository_storage_moves
     where state = 'started' and (project_id = a_project or snippet_id = a_snippet or group_id = a_group))
  then
    raise exception using errcode = 'CPC01', message = 'The repository is temporarily read-only. Please try again later.';
  end if;
end $function$;
CREATE OR REPLACE FUNCTION public.refuse_while_moving(a_project bigint, a_snippet bigint, a_wiki bigint, used_storage text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  wiki record;
begin
  if a_wiki is null then
    perform refuse_while_container_moves(a_project, a_snippet, null, used_storage);
  else
    select project_id, group_id into wiki from wikis where id = a_wiki;
    perform refuse_while_container_moves(wiki.project_id, null, wiki.group_id, used_storage);
  end if;
end $function$;
CREATE OR REPLACE FUNCTION public.remove_dependencies_of_files()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from dependencies where file_id in (select id from removed);
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.shut_out_service_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update users set state = 'blocked', updated_at = now() where id = old.user_id and state <> 'blocked';
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.take_milestone_due_date()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.milestone_due_date := (select due_date from milestones where id = new.milestone_id);
  return new;
end $function$;

create table access_requests (
  id bigint generated always as identity not null,
  user_id bigint not null,
  group_id bigint,
  project_id bigint,
  requested_at timestamp with time zone default now() not null,
  constraint access_requests_pkey PRIMARY KEY (id),
  constraint access_requests_group_key UNIQUE (group_id, user_id),
  constraint access_requests_project_key UNIQUE (project_id, user_id),
  constraint access_requests_one_target CHECK (num_nonnulls(group_id, project_id) = 1)
);
CREATE INDEX access_requests_by_group ON access_requests USING btree (group_id, id) WHERE group_id IS NOT NULL;
CREATE INDEX access_requests_by_project ON access_requests USING btree (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX access_requests_by_user ON access_requests USING btree (user_id);
comment on table access_requests is 'Requests of users to become members of a group or project.';

create table access_token_bots (
  user_id bigint not null,
  group_id bigint,
  project_id bigint,
  constraint access_token_bots_pkey PRIMARY KEY (user_id),
  constraint access_token_bots_one_resource CHECK (num_nonnulls(group_id, project_id) = 1)
);
CREATE INDEX access_token_bots_by_group ON access_token_bots USING btree (group_id, user_id) WHERE group_id IS NOT NULL;
CREATE INDEX access_token_bots_by_project ON access_token_bots USING btree (project_id, user_id) WHERE project_id IS NOT NULL;
comment on table access_token_bots is 'The user that each access token of a project or group belongs to; it is a member there.';

create table access_token_notices (
  day date not null,
  constraint access_token_notices_pkey PRIMARY KEY (day)
);
comment on table access_token_notices is 'Days on which webhooks were told of access tokens that expire soon, so that each is told of once.';

create table advisories (
  id bigint generated always as identity not null,
  record_id text not null,
  aliases text[] not null,
  cluster text not null,
  name text not null,
  summary text not null,
  details text not null,
  severity smallint not null,
  links text[] not null,
  modified_at timestamp with time zone not null,
  created_at timestamp with time zone default now() not null,
  constraint advisories_pkey PRIMARY KEY (id),
  constraint advisories_record_id_key UNIQUE (record_id),
  constraint advisories_severity_check CHECK (severity >= 0 AND severity <= 5)
);
CREATE INDEX advisories_cluster_idx ON advisories USING btree (cluster);
comment on table advisories is 'Advisories about vulnerable packages, as OSV records describe them.';
comment on column advisories.record_id is 'The id in the OSV record.';
comment on column advisories.cluster is 'The smallest id of all records that share an alias: they describe one vulnerability.';
comment on column advisories.severity is 'The position in: unknown, info, low, medium, high, critical.';

create table advisory_packages (
  id bigint generated always as identity not null,
  advisory_id bigint not null,
  ecosystem text not null,
  advised_name text not null,
  ranges jsonb not null,
  versions text[] not null,
  constraint advisory_packages_pkey PRIMARY KEY (id)
);
CREATE INDEX advisory_packages_advisory_id_idx ON advisory_packages USING btree (advisory_id);
CREATE INDEX advisory_packages_ecosystem_advised_name_idx ON advisory_packages USING btree (ecosystem, advised_name);
comment on table advisory_packages is 'The packages that an advisory affects, with their ranges of versions.';
comment on column advisory_packages.advised_name is 'The name of the package as advisories spell it.';

create table appearance (
  id smallint default 1 not null,
  title text default ''::text not null,
  description text default ''::text not null,
  pwa_name text default ''::text not null,
  pwa_short_name text default ''::text not null,
  pwa_description text default ''::text not null,
  member_guidelines text default ''::text not null,
  new_project_guidelines text default ''::text not null,
  profile_image_guidelines text default ''::text not null,
  header_message text default ''::text not null,
  footer_message text default ''::text not null,
  message_background_color text default '#E75E40'::text not null,
  message_font_color text default '#FFFFFF'::text not null,
  email_header_and_footer_enabled boolean default false not null,
  constraint appearance_pkey PRIMARY KEY (id),
  constraint appearance_id_check CHECK (id = 1)
);
comment on table appearance is 'How the server looks: names, texts and colours. One row.';

create table appearance_pictures (
  kind text not null,
  name text not null,
  blob_key text not null,
  constraint appearance_pictures_pkey PRIMARY KEY (kind),
  constraint appearance_pictures_kind_check CHECK (kind = ANY (ARRAY['logo'::text, 'pwa_icon'::text, 'header_logo'::text, 'favicon'::text]))
);
comment on table appearance_pictures is 'Logos and icons of the server; the bytes are blobs.';

create table application_settings (
  id integer default 1 not null,
  default_project_visibility text default 'private'::text not null,
  default_group_visibility text default 'private'::text not null,
  default_snippet_visibility text default 'private'::text not null,
  restricted_visibility_levels text[] default '{}'::text[] not null,
  default_branch_name text,
  default_branch_protection integer default 2 not null,
  default_project_creation integer default 2 not null,
  default_projects_limit integer default 100000 not null,
  can_create_group boolean default true not null,
  user_default_external boolean default false not null,
  user_defaults_to_private_profile boolean default false not null,
  email_confirmation_setting text default 'off'::text not null,
  max_personal_access_token_lifetime integer,
  require_personal_access_token_expiry boolean default true not null,
  service_access_tokens_expiration_enforced boolean default true not null,
  personal_access_token_prefix text default 'glpat-'::text not null,
  deletion_adjourned_period integer default 30 not null,
  repository_storages_weighted jsonb default '{"default": 100}'::jsonb not null,
  users_get_by_id_limit integer default 0 not null,
  users_get_by_id_limit_allowlist text[] default '{}'::text[] not null,
  project_api_limit integer default 0 not null,
  projects_api_limit integer default 0 not null,
  projects_api_rate_limit_unauthenticated integer default 0 not null,
  group_api_limit integer default 0 not null,
  groups_api_limit integer default 0 not null,
  throttle_unauthenticated_api_enabled boolean default false not null,
  throttle_unauthenticated_api_requests_per_period integer default 3600 not null,
  throttle_unauthenticated_api_period_in_seconds integer default 3600 not null,
  throttle_authenticated_api_enabled boolean default false not null,
  throttle_authenticated_api_requests_per_period integer default 7200 not null,
  throttle_authenticated_api_period_in_seconds integer default 3600 not null,
  throttle_unauthenticated_files_api_enabled boolean default false not null,
  throttle_unauthenticated_files_api_requests_per_period integer default 125 not null,
  throttle_unauthenticated_files_api_period_in_seconds integer default 15 not null,
  throttle_authenticated_files_api_enabled boolean default false not null,
  throttle_authenticated_files_api_requests_per_period integer default 500 not null,
  throttle_authenticated_files_api_period_in_seconds integer default 15 not null,
  rate_limiting_response_text text,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  issues_create_limit integer default 0 not null,
  notes_create_limit integer default 0 not null,
  push_event_activities_limit integer default 3 not null,
  search_rate_limit integer default 0 not null,
  search_rate_limit_unauthenticated integer default 0 not null,
  notes_create_limit_allowlist text[] default '{}'::text[] not null,
  signup_enabled boolean default true not null,
  enable_member_promotion_management boolean default false not null,
  seat_control text default 'off'::text not null,
  domain_allowlist text[] default '{}'::text[] not null,
  domain_denylist_enabled boolean default false not null,
  domain_denylist text[] default '{}'::text[] not null,
  email_restrictions_enabled boolean default false not null,
  email_restrictions text,
  allow_top_level_group_owners_to_create_service_accounts boolean default false not null,
  allow_local_requests_from_web_hooks_and_services boolean default false not null,
  team_group_id bigint,
  max_attachment_size integer default 100 not null,
  snippet_size_limit bigint default 52428800 not null,
  allow_local_requests_from_system_hooks boolean default true not null,
  push_event_hooks_limit integer default 3 not null,
  error_tracking_events_per_minute integer default 300 not null,
  error_tracking_retention_days integer default 90 not null,
  wiki_page_max_content_bytes integer default 5242880 not null,
  repository_storage_move_limit integer default 1 not null,
  bulk_import_enabled boolean default true not null,
  bulk_import_max_download_file_size integer default 5120 not null,
  max_decompressed_archive_size integer default 25600 not null,
  bulk_import_concurrent_pipeline_batch_limit integer default 25 not null,
  relation_export_batch_size integer default 1000 not null,
  concurrent_relation_export_limit integer default 2 not null,
  relation_export_requests_limit integer default 0 not null,
  counts_requests boolean generated always as ((throttle_unauthenticated_api_enabled OR throttle_authenticated_api_enabled OR throttle_unauthenticated_files_api_enabled OR throttle_authenticated_files_api_enabled OR (users_get_by_id_limit > 0) OR (project_api_limit > 0) OR (projects_api_limit > 0) OR (projects_api_rate_limit_unauthenticated > 0) OR (group_api_limit > 0) OR (groups_api_limit > 0) OR (notes_create_limit > 0) OR (issues_create_limit > 0) OR (search_rate_limit > 0) OR (search_rate_limit_unauthenticated > 0) OR (relation_export_requests_limit > 0))) stored not null,
  costly_pages_need_sign_in boolean default false not null,
  code_search text default 'on'::text not null,
  mirror_available boolean default true not null,
  mirror_max_delay integer default 300 not null,
  mirror_max_capacity integer default 100 not null,
  mirror_capacity_threshold integer default 50 not null,
  project_feature_flags_limit integer default 200 not null,
  feature_flags_unleash_requests_limit integer default 0 not null,
  bulk_import_trusted_sources text[] default '{}'::text[] not null,
  local_markdown_version integer default 0 not null,
  constraint application_settings_pkey PRIMARY KEY (id),
  constraint application_settings_bulk_import_concurrent_pipeline_batc_check CHECK (bulk_import_concurrent_pipeline_batch_limit >= 1),
  constraint application_settings_bulk_import_max_download_file_size_check CHECK (bulk_import_max_download_file_size >= 0),
  constraint application_settings_code_search_check CHECK (code_search = ANY (ARRAY['on'::text, 'git'::text, 'off'::text])),
  constraint application_settings_concurrent_relation_export_limit_check CHECK (concurrent_relation_export_limit >= 1),
  constraint application_settings_default_branch_protection_check CHECK (default_branch_protection >= 0 AND default_branch_protection <= 4),
  constraint application_settings_default_group_visibility_check CHECK (default_group_visibility = ANY (ARRAY['private'::text, 'internal'::text, 'public'::text])),
  constraint application_settings_default_project_creation_check CHECK (default_project_creation >= 0 AND default_project_creation <= 4),
  constraint application_settings_default_project_visibility_check CHECK (default_project_visibility = ANY (ARRAY['private'::text, 'internal'::text, 'public'::text])),
  constraint application_settings_default_projects_limit_check CHECK (default_projects_limit >= 0),
  constraint application_settings_default_snippet_visibility_check CHECK (default_snippet_visibility = ANY (ARRAY['private'::text, 'internal'::text, 'public'::text])),
  constraint application_settings_deletion_adjourned_period_check CHECK (deletion_adjourned_period >= 1 AND deletion_adjourned_period <= 90),
  constraint application_settings_email_confirmation_setting_check CHECK (email_confirmation_setting = ANY (ARRAY['off'::text, 'soft'::text, 'hard'::text])),
  constraint application_settings_error_tracking_events_per_minute_check CHECK (error_tracking_events_per_minute >= 0),
  constraint application_settings_error_tracking_retention_days_check CHECK (error_tracking_retention_days >= 1 AND error_tracking_retention_days <= 90),
  constraint application_settings_feature_flags_unleash_requests_limit_check CHECK (feature_flags_unleash_requests_limit >= 0),
  constraint application_settings_group_api_limit_check CHECK (group_api_limit >= 0),
  constraint application_settings_groups_api_limit_check CHECK (groups_api_limit >= 0),
  constraint application_settings_id_check CHECK (id = 1),
  constraint application_settings_issues_create_limit_check CHECK (issues_create_limit >= 0),
  constraint application_settings_max_attachment_size_check CHECK (max_attachment_size >= 0),
  constraint application_settings_max_decompressed_archive_size_check CHECK (max_decompressed_archive_size >= 0),
  constraint application_settings_max_personal_access_token_lifetime_check CHECK (max_personal_access_token_lifetime >= 1 AND max_personal_access_token_lifetime <= 365),
  constraint application_settings_mirror_capacity_threshold_check CHECK (mirror_capacity_threshold >= 1),
  constraint application_settings_mirror_max_capacity_check CHECK (mirror_max_capacity >= 1),
  constraint application_settings_mirror_max_delay_check CHECK (mirror_max_delay >= 1),
  constraint application_settings_notes_create_limit_check CHECK (notes_create_limit >= 0),
  constraint application_settings_project_api_limit_check CHECK (project_api_limit >= 0),
  constraint application_settings_project_feature_flags_limit_check CHECK (project_feature_flags_limit >= 0),
  constraint application_settings_projects_api_limit_check CHECK (projects_api_limit >= 0),
  constraint application_settings_projects_api_rate_limit_unauthentica_check CHECK (projects_api_rate_limit_unauthenticated >= 0),
  constraint application_settings_push_event_activities_limit_check CHECK (push_event_activities_limit >= 0),
  constraint application_settings_push_event_hooks_limit_check CHECK (push_event_hooks_limit >= 0),
  constraint application_settings_relation_export_batch_size_check CHECK (relation_export_batch_size >= 1 AND relation_export_batch_size <= 10000),
  constraint application_settings_relation_export_requests_limit_check CHECK (relation_export_requests_limit >= 0),
  constraint application_settings_repository_storage_move_limit_check CHECK (repository_storage_move_limit >= 1 AND repository_storage_move_limit <= 16),
  constraint application_settings_search_rate_limit_check CHECK (search_rate_limit >= 0),
  constraint application_settings_search_rate_limit_unauthenticated_check CHECK (search_rate_limit_unauthenticated >= 0),
  constraint application_settings_seat_control_check CHECK (seat_control = ANY (ARRAY['off'::text, 'block_overages'::text])),
  constraint application_settings_snippet_size_limit_check CHECK (snippet_size_limit >= 0),
  constraint application_settings_throttle_authenticated_api_period_in_check CHECK (throttle_authenticated_api_period_in_seconds > 0),
  constraint application_settings_throttle_authenticated_api_requests__check CHECK (throttle_authenticated_api_requests_per_period > 0),
  constraint application_settings_throttle_authenticated_files_api_per_check CHECK (throttle_authenticated_files_api_period_in_seconds > 0),
  constraint application_settings_throttle_authenticated_files_api_req_check CHECK (throttle_authenticated_files_api_requests_per_period > 0),
  constraint application_settings_throttle_unauthenticated_api_period__check CHECK (throttle_unauthenticated_api_period_in_seconds > 0),
  constraint application_settings_throttle_unauthenticated_api_request_check CHECK (throttle_unauthenticated_api_requests_per_period > 0),
  constraint application_settings_throttle_unauthenticated_files_api_p_check CHECK (throttle_unauthenticated_files_api_period_in_seconds > 0),
  constraint application_settings_throttle_unauthenticated_files_api_r_check CHECK (throttle_unauthenticated_files_api_requests_per_period > 0),
  constraint application_settings_users_get_by_id_limit_check CHECK (users_get_by_id_limit >= 0),
  constraint application_settings_wiki_page_max_content_bytes_check CHECK (wiki_page_max_content_bytes >= 1024)
);
comment on table application_settings is 'Settings of the whole server: one row, always there.';
comment on column application_settings.deletion_adjourned_period is 'Days between marking a group or project for deletion and its removal.';
comment on column application_settings.repository_storages_weighted is 'Storage to its share of new repositories.';
comment on column application_settings.team_group_id is 'The group whose members see experiments; an id, because a path that was given up may be taken by others.';
comment on column application_settings.code_search is 'Whether code is searched with the index, with git alone, or not at all.';
comment on column application_settings.counts_requests is 'Whether any limit on requests is on, so that limits cost nothing while there are none.';
comment on column application_settings.issues_create_limit is 'Issues that a user may add in a minute; 0 is no limit. The other limits on requests count in the same way.';
comment on column application_settings.push_event_activities_limit is 'A push of more branches or tags than this is recorded as one event.';
comment on column application_settings.error_tracking_retention_days is 'Days for which events of errors are kept, in partitions that a job makes and drops.';
comment on column application_settings.local_markdown_version is 'Clients raise it to have rendered texts made again.';

create table approval_rule_groups (
  approval_rule_id bigint not null,
  group_id bigint not null,
  constraint approval_rule_groups_pkey PRIMARY KEY (approval_rule_id, group_id)
);
CREATE INDEX approval_rule_groups_by_group ON approval_rule_groups USING btree (group_id);
comment on table approval_rule_groups is 'Groups whose members approve for a rule.';

create table approval_rule_protected_branches (
  approval_rule_id bigint not null,
  protected_branch_id bigint not null,
  constraint approval_rule_protected_branches_pkey PRIMARY KEY (approval_rule_id, protected_branch_id)
);
CREATE INDEX approval_rule_protected_branches_by_branch ON approval_rule_protected_branches USING btree (protected_branch_id);
comment on table approval_rule_protected_branches is 'Target branches that an approval rule is limited to; without rows it applies to all.';

create table approval_rule_users (
  approval_rule_id bigint not null,
  user_id bigint not null,
  constraint approval_rule_users_pkey PRIMARY KEY (approval_rule_id, user_id)
);
CREATE INDEX approval_rule_users_by_user ON approval_rule_users USING btree (user_id);
comment on table approval_rule_users is 'Users who approve for a rule.';

create table approval_rules (
  id bigint generated always as identity not null,
  project_id bigint,
  merge_request_id bigint,
  approval_project_rule_id bigint,
  name text not null,
  rule_type text default 'regular'::text not null,
  approvals_required integer not null,
  applies_to_all_protected_branches boolean default false not null,
  constraint approval_rules_pkey PRIMARY KEY (id),
  constraint approval_rules_approvals_required_check CHECK (approvals_required >= 0 AND approvals_required <= 100),
  constraint approval_rules_have_one_owner CHECK (num_nonnulls(project_id, merge_request_id) = 1),
  constraint approval_rules_name_check CHECK (char_length(name) <= 255),
  constraint approval_rules_rule_type_check CHECK (rule_type = ANY (ARRAY['regular'::text, 'any_approver'::text]))
);
CREATE UNIQUE INDEX approval_rules_any_approver_key ON approval_rules USING btree (project_id, merge_request_id) NULLS NOT DISTINCT WHERE rule_type = 'any_approver'::text;
CREATE INDEX approval_rules_by_origin ON approval_rules USING btree (approval_project_rule_id) WHERE approval_project_rule_id IS NOT NULL;
CREATE UNIQUE INDEX approval_rules_name_key ON approval_rules USING btree (project_id, merge_request_id, name) NULLS NOT DISTINCT;
CREATE INDEX approval_rules_of_merge_request ON approval_rules USING btree (merge_request_id, id) WHERE merge_request_id IS NOT NULL;
CREATE INDEX approval_rules_of_project ON approval_rules USING btree (project_id, id) WHERE project_id IS NOT NULL;
comment on table approval_rules is 'Approval rules of a project, or of one merge request, whose rules replace those of its project.';
comment on column approval_rules.approval_project_rule_id is 'The rule of the project that a rule of a merge request was copied from.';

create table award_emoji (
  id bigint generated always as identity not null,
  name text not null,
  user_id bigint not null,
  issue_id bigint,
  epic_id bigint,
  note_id bigint,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  snippet_id bigint,
  merge_request_id bigint,
  constraint award_emoji_pkey PRIMARY KEY (id),
  constraint award_emoji_have_one_awardable CHECK (num_nonnulls(issue_id, epic_id, merge_request_id, snippet_id, note_id) = 1)
);
CREATE INDEX award_emoji_by_user ON award_emoji USING btree (user_id, name);
CREATE UNIQUE INDEX award_emoji_of_epic ON award_emoji USING btree (epic_id, name, user_id) WHERE epic_id IS NOT NULL;
CREATE INDEX award_emoji_of_epic_in_order ON award_emoji USING btree (epic_id, id) WHERE epic_id IS NOT NULL;
CREATE UNIQUE INDEX award_emoji_of_issue ON award_emoji USING btree (issue_id, name, user_id) WHERE issue_id IS NOT NULL;
CREATE INDEX award_emoji_of_issue_in_order ON award_emoji USING btree (issue_id, id) WHERE issue_id IS NOT NULL;
CREATE UNIQUE INDEX award_emoji_of_merge_request ON award_emoji USING btree (merge_request_id, name, user_id) WHERE merge_request_id IS NOT NULL;
CREATE INDEX award_emoji_of_merge_request_in_order ON award_emoji USING btree (merge_request_id, id) WHERE merge_request_id IS NOT NULL;
CREATE UNIQUE INDEX award_emoji_of_note ON award_emoji USING btree (note_id, name, user_id) WHERE note_id IS NOT NULL;
CREATE INDEX award_emoji_of_note_in_order ON award_emoji USING btree (note_id, id) WHERE note_id IS NOT NULL;
CREATE UNIQUE INDEX award_emoji_of_snippet ON award_emoji USING btree (snippet_id, name, user_id) WHERE snippet_id IS NOT NULL;
CREATE INDEX award_emoji_of_snippet_in_order ON award_emoji USING btree (snippet_id, id) WHERE snippet_id IS NOT NULL;
comment on table award_emoji is 'Reactions to issues, epics, merge requests, snippets and comments.';

create table badges (
  id bigint generated always as identity not null,
  project_id bigint,
  group_id bigint,
  name text,
  link_url text not null,
  image_url text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint badges_pkey PRIMARY KEY (id),
  constraint badges_have_one_owner CHECK (num_nonnulls(project_id, group_id) = 1)
);
CREATE INDEX badges_by_group ON badges USING btree (group_id, created_at, id) WHERE group_id IS NOT NULL;
CREATE INDEX badges_by_project ON badges USING btree (project_id, created_at, id) WHERE project_id IS NOT NULL;
comment on table badges is 'Small pictures with a link, of projects and groups.';

create table billable_counts (
  day date default CURRENT_DATE not null,
  recorded_at timestamp with time zone default now() not null,
  count integer not null,
  highest integer not null,
  constraint billable_counts_pkey PRIMARY KEY (day)
);
comment on table billable_counts is 'The number of billable users by day: the last count and the highest.';

create table board_collapsed_lists (
  list_id bigint not null,
  user_id bigint not null,
  constraint board_collapsed_lists_pkey PRIMARY KEY (list_id, user_id)
);
CREATE INDEX board_collapsed_lists_by_user ON board_collapsed_lists USING btree (user_id);
comment on table board_collapsed_lists is 'Lists of boards that a user has collapsed.';

create table board_labels (
  board_id bigint not null,
  label_id bigint not null,
  constraint board_labels_pkey PRIMARY KEY (board_id, label_id)
);
CREATE INDEX board_labels_by_label ON board_labels USING btree (label_id);
comment on table board_labels is 'Labels that limit what a board shows.';

create table board_lists (
  id bigint generated always as identity not null,
  board_id bigint not null,
  label_id bigint,
  user_id bigint,
  milestone_id bigint,
  iteration_id bigint,
  "position" integer not null,
  max_issue_count integer default 0 not null,
  max_issue_weight integer default 0 not null,
  limit_metric text,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint board_lists_pkey PRIMARY KEY (id),
  constraint board_lists_iteration_id UNIQUE (board_id, iteration_id),
  constraint board_lists_label_id UNIQUE (board_id, label_id),
  constraint board_lists_milestone_id UNIQUE (board_id, milestone_id),
  constraint board_lists_user_id UNIQUE (board_id, user_id),
  constraint board_lists_check CHECK (num_nonnulls(label_id, user_id, milestone_id, iteration_id) = 1),
  constraint board_lists_limit_metric_check CHECK (limit_metric = ANY (ARRAY['all_metrics'::text, 'issue_count'::text, 'issue_weights'::text])),
  constraint board_lists_max_issue_count_check CHECK (max_issue_count >= 0 AND max_issue_count <= 1000000),
  constraint board_lists_max_issue_weight_check CHECK (max_issue_weight >= 0 AND max_issue_weight <= 1000000),
  constraint board_lists_position_check CHECK ("position" >= 0)
);
CREATE INDEX board_lists_by_iteration ON board_lists USING btree (iteration_id) WHERE iteration_id IS NOT NULL;
CREATE INDEX board_lists_by_label ON board_lists USING btree (label_id) WHERE label_id IS NOT NULL;
CREATE INDEX board_lists_by_milestone ON board_lists USING btree (milestone_id) WHERE milestone_id IS NOT NULL;
CREATE INDEX board_lists_by_user ON board_lists USING btree (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX board_lists_in_order ON board_lists USING btree (board_id, "position", id);
comment on table board_lists is 'Lists of a board. Positions have gaps, because a list is deleted with its label, user or milestone; replies number them anew.';

create table boards (
  id bigint generated always as identity not null,
  project_id bigint,
  group_id bigint,
  name text not null,
  hide_backlog_list boolean default false not null,
  hide_closed_list boolean default false not null,
  assignee_id bigint,
  assignee_wildcard text,
  milestone_id bigint,
  milestone_wildcard text,
  iteration_id bigint,
  weight integer,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint boards_pkey PRIMARY KEY (id),
  constraint boards_assignee_wildcard_check CHECK (assignee_wildcard = 'none'::text),
  constraint boards_check CHECK (num_nonnulls(project_id, group_id) = 1),
  constraint boards_check1 CHECK (num_nonnulls(assignee_id, assignee_wildcard) < 2),
  constraint boards_check2 CHECK (num_nonnulls(milestone_id, milestone_wildcard) < 2),
  constraint boards_milestone_wildcard_check CHECK (milestone_wildcard = ANY (ARRAY['none'::text, 'upcoming'::text, 'started'::text])),
  constraint boards_name_check CHECK (length(name) >= 1 AND length(name) <= 255),
  constraint boards_weight_check CHECK (weight >= '-2'::integer AND weight <= 9)
);
CREATE INDEX boards_by_assignee ON boards USING btree (assignee_id) WHERE assignee_id IS NOT NULL;
CREATE INDEX boards_by_iteration ON boards USING btree (iteration_id) WHERE iteration_id IS NOT NULL;
CREATE INDEX boards_by_milestone ON boards USING btree (milestone_id) WHERE milestone_id IS NOT NULL;
CREATE INDEX boards_of_group ON boards USING btree (group_id, name, id) WHERE group_id IS NOT NULL;
CREATE INDEX boards_of_project ON boards USING btree (project_id, name, id) WHERE project_id IS NOT NULL;
comment on table boards is 'Issue boards of projects and groups.';
comment on column boards.assignee_wildcard is '`None` or `Any` in the place of a user.';
comment on column boards.milestone_wildcard is '`None`, `Any`, `Upcoming` or `Started` in the place of a milestone.';

create table broadcast_messages (
  id bigint generated always as identity not null,
  message text not null,
  starts_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  target_access_levels integer[] default '{}'::integer[] not null,
  target_path text,
  broadcast_type text default 'banner'::text not null,
  theme text default 'indigo'::text not null,
  color text,
  font text,
  dismissable boolean default false not null,
  show_in_cli boolean default true not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint broadcast_messages_pkey PRIMARY KEY (id)
);
comment on table broadcast_messages is 'Messages of administrators to everybody, on pages and after pushes.';

create table bulk_import_entities (
  id bigint generated always as identity not null,
  bulk_import_id bigint not null,
  user_id bigint not null,
  parent_id bigint,
  state text default 'created'::text not null,
  entity_type text not null,
  source_full_path text not null,
  destination_namespace text not null,
  destination_slug text not null,
  namespace_id bigint,
  project_id bigint,
  migrate_projects boolean not null,
  migrate_memberships boolean not null,
  has_failures boolean default false not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  source_id bigint,
  phase integer default 0 not null,
  constraint bulk_import_entities_pkey PRIMARY KEY (id),
  constraint bulk_import_entities_bulk_import_id_entity_type_source_full_key UNIQUE (bulk_import_id, entity_type, source_full_path, destination_namespace, destination_slug),
  constraint bulk_import_entities_entity_type_check CHECK (entity_type = ANY (ARRAY['group'::text, 'project'::text])),
  constraint bulk_import_entities_state_check CHECK (state = ANY (ARRAY['created'::text, 'started'::text, 'finished'::text, 'timeout'::text, 'failed'::text, 'canceled'::text]))
);
CREATE INDEX bulk_import_entities_of_group ON bulk_import_entities USING btree (namespace_id);
CREATE INDEX bulk_import_entities_of_import ON bulk_import_entities USING btree (bulk_import_id, created_at, id);
CREATE INDEX bulk_import_entities_of_parent ON bulk_import_entities USING btree (parent_id);
CREATE INDEX bulk_import_entities_of_project ON bulk_import_entities USING btree (project_id);
CREATE INDEX bulk_import_entities_of_user ON bulk_import_entities USING btree (user_id, created_at, id);
CREATE INDEX bulk_import_entities_running ON bulk_import_entities USING btree (bulk_import_id, phase, id) WHERE state = ANY (ARRAY['created'::text, 'started'::text]);
comment on table bulk_import_entities is 'Groups and projects of a migration by direct transfer. Those below a group are added when they are found.';
comment on column bulk_import_entities.source_id is 'The id of the group or project at the source.';
comment on column bulk_import_entities.phase is 'The next phase of the entity. It begins when no other entity of the migration is in an earlier one.';

create table bulk_import_failures (
  id bigint generated always as identity not null,
  entity_id bigint not null,
  relation text not null,
  step text not null,
  pipeline_class text not null,
  exception_class text not null,
  exception_message text not null,
  correlation_id text not null,
  source_url text,
  source_title text,
  more bigint,
  created_at timestamp with time zone default now() not null,
  constraint bulk_import_failures_pkey PRIMARY KEY (id),
  constraint bulk_import_failures_step_check CHECK (step = ANY (ARRAY['extractor'::text, 'transformer'::text, 'loader'::text]))
);
CREATE INDEX bulk_import_failures_of_entity ON bulk_import_failures USING btree (entity_id, id);
CREATE UNIQUE INDEX bulk_import_failures_summed ON bulk_import_failures USING btree (entity_id, relation, exception_class) WHERE more IS NOT NULL;
comment on table bulk_import_failures is 'Records that a migration could not bring, each with its reason. From the hundredth of a kind on, one row counts the rest.';
comment on column bulk_import_failures.more is 'How many further failures the row stands for; null for a single one.';

create table bulk_import_people (
  entity_id bigint not null,
  source_id bigint not null,
  username text not null,
  name text not null,
  public_email text,
  constraint bulk_import_people_pkey PRIMARY KEY (entity_id, source_id)
);
comment on table bulk_import_people is 'Users of a source, as it describes them.';

create table bulk_import_relations (
  id bigint generated always as identity not null,
  entity_id bigint not null,
  relation text not null,
  stage integer not null,
  state text default 'created'::text not null,
  batch integer default 0 not null,
  batches_count integer,
  line bigint default 0 not null,
  counts jsonb default '{}'::jsonb not null,
  failures_count bigint default 0 not null,
  etag text,
  silent_since timestamp with time zone,
  tries integer default 0 not null,
  progressed_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  is_again boolean default false not null,
  constraint bulk_import_relations_pkey PRIMARY KEY (id),
  constraint bulk_import_relations_entity_id_relation_key UNIQUE (entity_id, relation),
  constraint bulk_import_relations_state_check CHECK (state = ANY (ARRAY['created'::text, 'started'::text, 'finished'::text, 'skipped'::text, 'failed'::text, 'canceled'::text]))
);
CREATE INDEX bulk_import_relations_running ON bulk_import_relations USING btree (id) WHERE state = 'started'::text;
comment on table bulk_import_relations is 'Steps of a migration: one relation of one entity each. Batch and line change in the transaction that writes the records, so that a restart goes on exactly there.';
comment on column bulk_import_relations.batch is 'The batch that is being read, from 1; 0 for a relation without batches.';
comment on column bulk_import_relations.counts is 'By name of the relation or of one nested in it: how many records the source has, were read and were written.';
comment on column bulk_import_relations.etag is 'The entity tag of the file that is being downloaded.';
comment on column bulk_import_relations.silent_since is 'Since when the source has given no usable answer.';
comment on column bulk_import_relations.tries is 'Requests since then.';
comment on column bulk_import_relations.is_again is 'Whether the step runs again after failures and skips the records that are here.';

create table bulk_imports (
  id bigint generated always as identity not null,
  user_id bigint not null,
  state text default 'created'::text not null,
  source_url text not null,
  source_version text not null,
  access_token bytea,
  has_failures boolean default false not null,
  ended_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  source_user_id bigint,
  constraint bulk_imports_pkey PRIMARY KEY (id),
  constraint bulk_imports_state_check CHECK (state = ANY (ARRAY['created'::text, 'started'::text, 'finished'::text, 'timeout'::text, 'failed'::text, 'canceled'::text]))
);
CREATE INDEX bulk_imports_of_user ON bulk_imports USING btree (user_id, created_at, id);
CREATE INDEX bulk_imports_running ON bulk_imports USING btree (id) WHERE state = ANY (ARRAY['created'::text, 'started'::text]);
CREATE INDEX bulk_imports_with_token ON bulk_imports USING btree (ended_at) WHERE access_token IS NOT NULL AND ended_at IS NOT NULL;
comment on table bulk_imports is 'Migrations by direct transfer from another server.';
comment on column bulk_imports.access_token is 'The token for the source, encrypted. It is erased when the migration is canceled, and some time after its end.';
comment on column bulk_imports.source_user_id is 'The owner of the token at the source.';

create table claimed_emails (
  user_id bigint not null,
  email citext not null,
  claimed_at timestamp with time zone default now() not null,
  constraint claimed_emails_pkey PRIMARY KEY (user_id, email)
);
CREATE INDEX claimed_emails_by_age ON claimed_emails USING btree (claimed_at);
comment on table claimed_emails is 'Since when an account has claimed an address that it has not confirmed. The row outlives the address, so that the account cannot add it again and again.';

create table clusters (
  id bigint generated always as identity not null,
  user_id bigint not null,
  name text not null,
  enabled boolean default true not null,
  managed boolean default true not null,
  domain text,
  environment_scope text default '*'::text not null,
  namespace_per_environment boolean default true not null,
  management_project_id bigint,
  provider_type text default 'user'::text not null,
  api_url text not null,
  token bytea not null,
  ca_cert text,
  namespace text,
  authorization_type text default 'rbac'::text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint clusters_pkey PRIMARY KEY (id),
  constraint clusters_environment_scope_key UNIQUE (environment_scope),
  constraint clusters_authorization_type_check CHECK (authorization_type = ANY (ARRAY['rbac'::text, 'abac'::text, 'unknown_authorization'::text])),
  constraint clusters_provider_type_check CHECK (provider_type = ANY (ARRAY['user'::text, 'gcp'::text, 'aws'::text]))
);
CREATE INDEX clusters_by_management_project ON clusters USING btree (management_project_id) WHERE management_project_id IS NOT NULL;
CREATE INDEX clusters_by_user ON clusters USING btree (user_id);
comment on table clusters is 'Kubernetes clusters of the instance. Nothing is ever sent to them.';
comment on column clusters.token is 'Encrypted with the secret key.';

create unlogged table code_blobs (
  id bigint generated always as identity not null,
  object_id text not null,
  content text not null,
  is_folded boolean default false not null,
  is_left_out boolean default false not null,
  constraint code_blobs_pkey PRIMARY KEY (id),
  constraint code_blobs_object_id_key UNIQUE (object_id)
);
CREATE INDEX code_blobs_left_out ON code_blobs USING btree (id) WHERE is_left_out;
CREATE INDEX code_blobs_search ON code_blobs USING gin (content gin_trgm_ops);
CREATE INDEX code_blobs_unfolded ON code_blobs USING btree (id) WHERE NOT is_folded;
comment on table code_blobs is 'Contents of files in the index for code search, each stored once however many projects have it.';
comment on column code_blobs.is_left_out is 'Whether the content is a text that is too large for the index, so that a search can say that it is incomplete.';

create unlogged table code_files (
  project_id bigint not null,
  path text collate "C" not null,
  blob_id bigint not null,
  constraint code_files_pkey PRIMARY KEY (project_id, path)
);
CREATE INDEX code_files_by_path ON code_files USING gin (path gin_trgm_ops);
CREATE INDEX code_files_of_blob ON code_files USING btree (blob_id);
comment on table code_files is 'Paths of indexed files.';

create unlogged table code_indexes (
  project_id bigint not null,
  commit_id text,
  is_stale boolean default true not null,
  changes bigint default 0 not null,
  error text,
  failed_at timestamp with time zone,
  has_all_paths boolean default false not null,
  constraint code_indexes_pkey PRIMARY KEY (project_id)
);
CREATE INDEX code_indexes_stale ON code_indexes USING btree (project_id) WHERE is_stale;
comment on table code_indexes is 'The state of the code search index of each project. The three tables are not logged: backups leave them out, and they are built again after a crash of PostgreSQL.';
comment on column code_indexes.commit_id is 'The commit whose files are indexed; null before the first time.';
comment on column code_indexes.changes is 'Counts changes of the default branch: one during indexing leaves the index stale.';
comment on column code_indexes.has_all_paths is 'Whether paths of empty, binary and large files are indexed, too.';

create table commit_statuses (
  id bigint generated always as identity not null,
  project_id bigint not null,
  user_id bigint,
  sha text not null,
  ref text not null,
  name text not null,
  status text not null,
  target_url text,
  description text,
  coverage double precision,
  retried boolean default false not null,
  created_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  pipeline_id bigint,
  constraint commit_statuses_pkey PRIMARY KEY (id),
  constraint commit_statuses_status_check CHECK (status = ANY (ARRAY['pending'::text, 'running'::text, 'success'::text, 'failed'::text, 'canceled'::text, 'skipped'::text]))
);
CREATE INDEX commit_statuses_by_commit ON commit_statuses USING btree (project_id, sha, id);
CREATE INDEX commit_statuses_by_status ON commit_statuses USING btree (project_id, status, id);
CREATE INDEX commit_statuses_by_user ON commit_statuses USING btree (user_id);
CREATE UNIQUE INDEX commit_statuses_current ON commit_statuses USING btree (project_id, sha, ref, name) WHERE NOT retried;
CREATE INDEX commit_statuses_current_of_pipeline ON commit_statuses USING btree (pipeline_id, status) WHERE NOT retried;
CREATE INDEX commit_statuses_in_order ON commit_statuses USING btree (project_id, id);
CREATE INDEX commit_statuses_of_pipeline ON commit_statuses USING btree (pipeline_id, id);
CREATE INDEX commit_statuses_without_pipeline ON commit_statuses USING btree (id) WHERE pipeline_id IS NULL;
comment on table commit_statuses is 'Statuses of commits that other systems report. A status that has ended is kept and marked as retried when the next one of its name begins.';
comment on column commit_statuses.ref is 'The branch or tag that the commit was built for.';

create table costly_files (
  content text not null,
  error text not null,
  noted_at timestamp with time zone default now() not null,
  constraint costly_files_pkey PRIMARY KEY (content)
);
CREATE INDEX costly_files_noted_at_idx ON costly_files USING btree (noted_at);
comment on table costly_files is 'Files of users that were too costly to read, by their content: they are not tried again.';

create table custom_attributes (
  id bigint generated always as identity not null,
  user_id bigint,
  group_id bigint,
  project_id bigint,
  key text not null,
  value text not null,
  constraint custom_attributes_pkey PRIMARY KEY (id),
  constraint custom_attributes_have_one_owner CHECK (num_nonnulls(user_id, group_id, project_id) = 1)
);
CREATE UNIQUE INDEX custom_attributes_by_group ON custom_attributes USING btree (group_id, key) WHERE group_id IS NOT NULL;
CREATE UNIQUE INDEX custom_attributes_by_project ON custom_attributes USING btree (project_id, key) WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX custom_attributes_by_user ON custom_attributes USING btree (user_id, key) WHERE user_id IS NOT NULL;
CREATE INDEX custom_attributes_by_value ON custom_attributes USING btree (key, md5(value));
comment on table custom_attributes is 'Texts by key that administrators store with users, groups and projects.';

create table declined_invitations (
  id bigint not null,
  group_id bigint,
  project_id bigint,
  invite_email citext not null,
  inviter_id bigint not null,
  declined_at timestamp with time zone default now() not null,
  constraint declined_invitations_pkey PRIMARY KEY (id),
  constraint declined_invitations_one_source CHECK (num_nonnulls(group_id, project_id) = 1)
);
CREATE INDEX declined_invitations_by_group ON declined_invitations USING btree (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX declined_invitations_by_inviter ON declined_invitations USING btree (inviter_id);
CREATE INDEX declined_invitations_by_project ON declined_invitations USING btree (project_id) WHERE project_id IS NOT NULL;
comment on table declined_invitations is 'Invitations whose decline the inviter has not been told of yet.';

create table dependencies (
  id bigint generated always as identity not null,
  project_id bigint not null,
  file_id bigint not null,
  digest uuid not null,
  package_version_id bigint,
  name text not null,
  version text not null,
  package_manager text not null,
  path text not null,
  direct boolean,
  development boolean not null,
  licenses text[] not null,
  found_licenses text[] default '{}'::text[] not null,
  constraint dependencies_pkey PRIMARY KEY (id),
  constraint dependencies_file_id_digest_key UNIQUE (file_id, digest)
);
CREATE INDEX dependencies_package_version_id_idx ON dependencies USING btree (package_version_id) WHERE package_version_id IS NOT NULL;
CREATE INDEX dependencies_project_id_id_idx ON dependencies USING btree (project_id, id);
CREATE INDEX dependencies_project_id_package_manager_id_idx ON dependencies USING btree (project_id, package_manager, id);
comment on table dependencies is 'Packages that projects depend on, one row per file that names them. Without foreign keys, because checking them took as long as writing the rows.';
comment on column dependencies.digest is 'Identifies the entry within its file; the texts themselves are too long for an index.';
comment on column dependencies.licenses is 'As the file says.';
comment on column dependencies.found_licenses is 'As the package''s own files in the repository say.';

create table dependency_files (
  id bigint generated always as identity not null,
  project_id bigint not null,
  path text not null,
  blob_id text,
  reader_version integer not null,
  package_manager text,
  count integer not null,
  error text,
  includes text[] default '{}'::text[] not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  parents jsonb default '[]'::jsonb not null,
  constraint dependency_files_pkey PRIMARY KEY (id)
);
CREATE INDEX dependency_files_project_id_path_id_idx ON dependency_files USING btree (project_id, path, id);
CREATE UNIQUE INDEX dependency_files_project_id_path_idx ON dependency_files USING btree (project_id, path) WHERE blob_id IS NOT NULL;
CREATE UNIQUE INDEX dependency_files_project_id_path_idx1 ON dependency_files USING btree (project_id, path) WHERE blob_id IS NULL;
comment on table dependency_files is 'Files of default branches that list dependencies.';
comment on column dependency_files.reader_version is 'The version of the code that read the file; it is read again when that changes.';
comment on column dependency_files.package_manager is 'Null for a bill of materials, which covers several.';
comment on column dependency_files.includes is 'Paths of other files that the file includes.';
comment on column dependency_files.parents is 'Files that complete this one, such as the parents of a pom.xml: [{path, blob_id}], with null for a file that does not exist.';

create table dependency_list_exports (
  id bigint generated always as identity not null,
  project_id bigint not null,
  user_id bigint not null,
  export_type text not null,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone default (now() + '7 days'::interval) not null,
  status text default 'created'::text not null,
  with_vulnerabilities boolean default false not null,
  blob_key text,
  size_bytes bigint,
  constraint dependency_list_exports_pkey PRIMARY KEY (id),
  constraint dependency_list_exports_check CHECK ((status = 'finished'::text) = (blob_key IS NOT NULL AND size_bytes IS NOT NULL)),
  constraint dependency_list_exports_export_type_check CHECK (export_type = ANY (ARRAY['csv'::text, 'cyclonedx_1_6_json'::text, 'spdx_2_3_json'::text])),
  constraint dependency_list_exports_status_check CHECK (status = ANY (ARRAY['created'::text, 'running'::text, 'finished'::text, 'failed'::text]))
);
CREATE INDEX dependency_list_exports_by_blob ON dependency_list_exports USING btree (blob_key) WHERE blob_key IS NOT NULL;
CREATE INDEX dependency_list_exports_expires_at_idx ON dependency_list_exports USING btree (expires_at);
CREATE INDEX dependency_list_exports_project_id_idx ON dependency_list_exports USING btree (project_id);
CREATE INDEX dependency_list_exports_user_id_idx ON dependency_list_exports USING btree (user_id);
comment on table dependency_list_exports is 'Exports of the dependencies of projects.';
comment on column dependency_list_exports.with_vulnerabilities is 'Whether the user could read vulnerabilities when they asked.';

create table dependency_scans (
  project_id bigint not null,
  commit_id text,
  scanned_at timestamp with time zone default now() not null,
  constraint dependency_scans_pkey PRIMARY KEY (project_id)
);
comment on table dependency_scans is 'The commit whose dependencies are listed; null when there is no default branch.';

create table deploy_key_projects (
  key_id bigint not null,
  project_id bigint not null,
  can_push boolean default false not null,
  created_at timestamp with time zone default now() not null,
  constraint deploy_key_projects_pkey PRIMARY KEY (key_id, project_id)
);
CREATE INDEX deploy_key_projects_by_project ON deploy_key_projects USING btree (project_id, key_id);
comment on table deploy_key_projects is 'Projects that a deploy key opens.';

create table deploy_tokens (
  id bigint default nextval((pg_get_serial_sequence('personal_access_tokens'::text, 'id'::text))::regclass) not null,
  project_id bigint,
  group_id bigint,
  name text not null,
  username text not null,
  scopes text[] not null,
  token_digest bytea not null,
  expires_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint deploy_tokens_pkey PRIMARY KEY (id),
  constraint deploy_tokens_token_digest_key UNIQUE (token_digest),
  constraint deploy_tokens_check CHECK (num_nonnulls(project_id, group_id) = 1)
);
CREATE INDEX deploy_tokens_by_group ON deploy_tokens USING btree (group_id, id) WHERE group_id IS NOT NULL;
CREATE INDEX deploy_tokens_by_project ON deploy_tokens USING btree (project_id, id) WHERE project_id IS NOT NULL;
comment on table deploy_tokens is 'Tokens that fetch the code of a project, or of all projects below a group, on behalf of no user.';

create table deployment_approvals (
  id bigint generated always as identity not null,
  deployment_id bigint not null,
  user_id bigint not null,
  rule_id bigint,
  status text not null,
  comment text,
  created_at timestamp with time zone default now() not null,
  constraint deployment_approvals_pkey PRIMARY KEY (id),
  constraint deployment_approvals_key UNIQUE (deployment_id, user_id),
  constraint deployment_approvals_status_check CHECK (status = ANY (ARRAY['approved'::text, 'rejected'::text]))
);
CREATE INDEX deployment_approvals_by_rule ON deployment_approvals USING btree (rule_id) WHERE rule_id IS NOT NULL;
CREATE INDEX deployment_approvals_by_user ON deployment_approvals USING btree (user_id);
comment on table deployment_approvals is 'Approvals and rejections of deployments to protected environments.';
comment on column deployment_approvals.rule_id is 'The approval rule that the approval counts for.';

create table deployment_merge_requests (
  deployment_id bigint not null,
  merge_request_id bigint not null,
  environment_id bigint not null,
  constraint deployment_merge_requests_pkey PRIMARY KEY (deployment_id, merge_request_id),
  constraint deployment_merge_requests_once UNIQUE (environment_id, merge_request_id)
);
CREATE INDEX deployment_merge_requests_by_merge_request ON deployment_merge_requests USING btree (merge_request_id);
comment on table deployment_merge_requests is 'Merge requests that a deployment brought. Only the first deployment to an environment counts.';

create table deployments (
  id bigint generated always as identity not null,
  iid integer not null,
  project_id bigint not null,
  environment_id bigint not null,
  ref text not null,
  tag boolean not null,
  sha text not null,
  status text not null,
  user_id bigint,
  during_freeze boolean default false not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  finished_at timestamp with time zone,
  made_as_name text,
  made_as_tier text,
  constraint deployments_pkey PRIMARY KEY (id),
  constraint deployments_iid_key UNIQUE (project_id, iid),
  constraint deployments_sha_check CHECK (sha ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'::text),
  constraint deployments_status_check CHECK (status = ANY (ARRAY['created'::text, 'blocked'::text, 'running'::text, 'success'::text, 'failed'::text, 'canceled'::text]))
);
CREATE INDEX deployments_by_creation ON deployments USING btree (project_id, created_at, id);
CREATE INDEX deployments_by_end ON deployments USING btree (project_id, finished_at, id);
CREATE INDEX deployments_by_ref ON deployments USING btree (project_id, ref, id);
CREATE INDEX deployments_by_update ON deployments USING btree (project_id, updated_at, id);
CREATE INDEX deployments_by_user ON deployments USING btree (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX deployments_in_order ON deployments USING btree (project_id, id);
CREATE INDEX deployments_of_environment ON deployments USING btree (environment_id, id);
CREATE INDEX deployments_that_succeeded ON deployments USING btree (environment_id, finished_at, id) WHERE status = 'success'::text;
comment on table deployments is 'Deployments of a commit to an environment, as external systems report them.';
comment on column deployments.during_freeze is 'Whether it was made during a freeze period.';
comment on column deployments.made_as_name is 'The name of the environment when the deployment was made: its rules apply even after a rename.';
comment on column deployments.made_as_tier is 'The tier of the environment at that time.';

create table due_notices (
  day date not null,
  constraint due_notices_pkey PRIMARY KEY (day)
);
comment on table due_notices is 'Days on which users were told of issues that are due, so that each is told of once.';

create table emails (
  id bigint generated always as identity not null,
  user_id bigint not null,
  email citext not null,
  is_primary boolean default false not null,
  confirmed_at timestamp with time zone,
  seed uuid default gen_random_uuid() not null,
  confirmation_sent_at timestamp with time zone default now() not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  refused_at timestamp with time zone,
  constraint emails_pkey PRIMARY KEY (id),
  constraint emails_seed_key UNIQUE (seed)
);
CREATE INDEX emails_by_user ON emails USING btree (user_id, id);
CREATE UNIQUE INDEX emails_email_key ON emails USING btree (email);
CREATE UNIQUE INDEX emails_one_primary ON emails USING btree (user_id) WHERE is_primary;
CREATE INDEX emails_unconfirmed ON emails USING btree (confirmation_sent_at) WHERE confirmed_at IS NULL;
comment on table emails is 'Every email address of an account, primary ones included, so that one unique index covers all of them.';
comment on column emails.seed is 'The seed of the confirmation link. The token is not stored.';
comment on column emails.refused_at is 'When the mail server refused the address for good; no notification is sent to it until it is confirmed or chosen again.';

create table environments (
  id bigint generated always as identity not null,
  project_id bigint not null,
  name text not null,
  slug text not null,
  description text,
  external_url text,
  tier text not null,
  state text default 'available'::text not null,
  auto_stop_at timestamp with time zone,
  auto_stop_in_s bigint,
  auto_delete_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint environments_pkey PRIMARY KEY (id),
  constraint environments_name_key UNIQUE (project_id, name),
  constraint environments_slug_key UNIQUE (project_id, slug),
  constraint environments_state_check CHECK (state = ANY (ARRAY['available'::text, 'stopping'::text, 'stopped'::text])),
  constraint environments_tier_check CHECK (tier = ANY (ARRAY['production'::text, 'staging'::text, 'testing'::text, 'development'::text, 'other'::text]))
);
CREATE INDEX environments_in_order ON environments USING btree (project_id, name, id);
CREATE INDEX environments_to_delete ON environments USING btree (auto_delete_at) WHERE auto_delete_at IS NOT NULL;
CREATE INDEX environments_to_stop ON environments USING btree (auto_stop_at) WHERE state = 'available'::text AND auto_stop_at IS NOT NULL;
comment on table environments is 'Environments that projects are deployed to.';
comment on column environments.auto_stop_in_s is 'How long the environment lives after a deployment.';
comment on column environments.auto_delete_at is 'When a stopped review app is deleted.';

create table epic_issues (
  id bigint generated always as identity not null,
  epic_id bigint not null,
  issue_id bigint not null,
  relative_position bigint not null,
  constraint epic_issues_pkey PRIMARY KEY (id),
  constraint epic_issues_issue_id_key UNIQUE (issue_id)
);
CREATE INDEX epic_issues_in_order ON epic_issues USING btree (epic_id, relative_position, id);
comment on table epic_issues is 'Issues of epics; an issue is in one epic at most.';

create table epic_labels (
  epic_id bigint not null,
  label_id bigint not null,
  constraint epic_labels_pkey PRIMARY KEY (epic_id, label_id)
);
CREATE INDEX epic_labels_by_label ON epic_labels USING btree (label_id, epic_id);
comment on table epic_labels is 'Labels of epics.';

create table epic_links (
  id bigint generated always as identity not null,
  source_id bigint not null,
  target_id bigint not null,
  link_type text default 'relates_to'::text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint epic_links_pkey PRIMARY KEY (id),
  constraint epic_links_link_type_check CHECK (link_type = ANY (ARRAY['relates_to'::text, 'blocks'::text])),
  constraint epic_links_of_two CHECK (source_id <> target_id)
);
CREATE INDEX epic_links_by_source ON epic_links USING btree (source_id, id);
CREATE INDEX epic_links_by_target ON epic_links USING btree (target_id, id);
CREATE UNIQUE INDEX epic_links_key ON epic_links USING btree (LEAST(source_id, target_id), GREATEST(source_id, target_id));
comment on table epic_links is 'Links between epics. `is_blocked_by` is a `blocks` in the other direction.';

create table epics (
  id bigint generated always as identity not null,
  group_id bigint not null,
  iid integer not null,
  title text not null,
  description text,
  author_id bigint,
  state text default 'opened'::text not null,
  confidential boolean default false not null,
  color text default '#1068bf'::text not null,
  parent_id bigint,
  start_date_is_fixed boolean default false not null,
  start_date_fixed date,
  due_date_is_fixed boolean default false not null,
  due_date_fixed date,
  closed_at timestamp with time zone,
  closed_by_id bigint,
  user_notes_count integer default 0 not null,
  upvotes integer default 0 not null,
  downvotes integer default 0 not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  relative_position bigint,
  imported_from text default 'none'::text not null,
  constraint epics_pkey PRIMARY KEY (id),
  constraint epics_iid_key UNIQUE (group_id, iid),
  constraint epics_state_check CHECK (state = ANY (ARRAY['opened'::text, 'closed'::text]))
);
CREATE INDEX epics_by_author ON epics USING btree (author_id, created_at);
CREATE INDEX epics_by_closer ON epics USING btree (closed_by_id) WHERE closed_by_id IS NOT NULL;
CREATE INDEX epics_by_state ON epics USING btree (group_id, state, created_at, id);
CREATE INDEX epics_by_title ON epics USING btree (group_id, lower(title), id);
CREATE INDEX epics_by_update ON epics USING btree (group_id, updated_at, id);
CREATE INDEX epics_in_order ON epics USING btree (group_id, created_at, id);
CREATE INDEX epics_of_parent_in_order ON epics USING btree (parent_id, relative_position, id) WHERE parent_id IS NOT NULL;
CREATE INDEX epics_search ON epics USING gin (title gin_trgm_ops, description gin_trgm_ops);
comment on table epics is 'Epics of groups.';
comment on column epics.relative_position is 'The position among the children of the parent.';
comment on column epics.start_date_fixed is 'Used when start_date_is_fixed; otherwise the date comes from milestones of issues and from children.';

create table error_tracking_alerts (
  error_id bigint not null,
  alerted_at timestamp with time zone not null,
  constraint error_tracking_alerts_pkey PRIMARY KEY (error_id)
);
comment on table error_tracking_alerts is 'When an alert about an error was last sent, so that a burst is one alert.';

create table error_tracking_bundles (
  id bigint generated always as identity not null,
  project_id bigint not null,
  user_id bigint,
  version_id bigint,
  dist text default ''::text not null,
  checksum bytea not null,
  chunks text[] not null,
  state text default 'created'::text not null,
  detail text,
  created_at timestamp with time zone default now() not null,
  constraint error_tracking_bundles_pkey PRIMARY KEY (id),
  constraint error_tracking_bundles_project_id_checksum_version_id_dist_key UNIQUE NULLS NOT DISTINCT (project_id, checksum, version_id, dist),
  constraint error_tracking_bundles_checksum_check CHECK (length(checksum) = 20),
  constraint error_tracking_bundles_state_check CHECK (state = ANY (ARRAY['created'::text, 'ok'::text, 'error'::text]))
);
CREATE INDEX error_tracking_bundles_created_at_idx ON error_tracking_bundles USING btree (created_at);
CREATE INDEX error_tracking_bundles_user_id_idx ON error_tracking_bundles USING btree (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX error_tracking_bundles_version_id_idx ON error_tracking_bundles USING btree (version_id) WHERE version_id IS NOT NULL;
comment on table error_tracking_bundles is 'Archives of source maps, by the SHA-1 of their bytes.';

create table error_tracking_chunks (
  user_id bigint not null,
  checksum bytea not null,
  blob_key text not null,
  size_bytes integer not null,
  created_at timestamp with time zone default now() not null,
  constraint error_tracking_chunks_pkey PRIMARY KEY (user_id, checksum),
  constraint error_tracking_chunks_checksum_check CHECK (length(checksum) = 20)
);
CREATE INDEX error_tracking_chunks_blob_key_idx ON error_tracking_chunks USING btree (blob_key);
CREATE INDEX error_tracking_chunks_created_at_idx ON error_tracking_chunks USING btree (created_at);
comment on table error_tracking_chunks is 'Parts of bundles until the bundle is unpacked.';

create table error_tracking_client_keys (
  id bigint generated always as identity not null,
  project_id bigint not null,
  public_key text not null,
  active boolean default true not null,
  created_at timestamp with time zone default now() not null,
  constraint error_tracking_client_keys_pkey PRIMARY KEY (id),
  constraint error_tracking_client_keys_public_key_key UNIQUE (public_key),
  constraint error_tracking_client_keys_public_key_check CHECK (public_key ~ '^glet_[0-9a-f]{32}$'::text)
);
CREATE INDEX error_tracking_client_keys_project_id_id_idx ON error_tracking_client_keys USING btree (project_id, id);
comment on table error_tracking_client_keys is 'Public keys with which applications send errors.';

create table error_tracking_error_hours (
  error_id bigint not null,
  hour timestamp with time zone not null,
  count bigint not null,
  constraint error_tracking_error_hours_pkey PRIMARY KEY (error_id, hour)
);
CREATE INDEX error_tracking_error_hours_hour_idx ON error_tracking_error_hours USING btree (hour);
comment on table error_tracking_error_hours is 'Events of an error by hour.';

create table error_tracking_error_tags (
  error_id bigint not null,
  key text not null,
  value text not null,
  count bigint not null,
  constraint error_tracking_error_tags_pkey PRIMARY KEY (error_id, key, value)
);
CREATE INDEX error_tracking_error_tags_values ON error_tracking_error_tags USING btree (value, key, error_id) WHERE key = ANY (ARRAY['environment'::text, 'release'::text]);
comment on table error_tracking_error_tags is 'How often each value of a tag came with an error.';

create table error_tracking_error_texts (
  error_id bigint not null,
  project_id bigint not null,
  name text not null,
  description text not null,
  actor text not null,
  constraint error_tracking_error_texts_pkey PRIMARY KEY (error_id)
);
CREATE INDEX error_tracking_error_texts_search ON error_tracking_error_texts USING gin (project_id, name gin_trgm_ops, description gin_trgm_ops, actor gin_trgm_ops) WITH (gin_pending_list_limit='256');
comment on table error_tracking_error_texts is 'Texts of errors, apart from error_tracking_errors so that counting an event does not change the expensive index for searching.';

create table error_tracking_error_users (
  error_id bigint not null,
  user_hash bytea not null,
  constraint error_tracking_error_users_pkey PRIMARY KEY (error_id, user_hash)
);
comment on table error_tracking_error_users is 'Users who met an error, by a salted hash.';

create table error_tracking_errors (
  id bigint generated always as identity not null,
  project_id bigint,
  fingerprint text not null,
  platform text not null,
  level text not null,
  status text default 'unresolved'::text not null,
  first_seen_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  first_release text,
  last_release text,
  events_count bigint default 0 not null,
  users_count bigint default 0 not null,
  resolved_at timestamp with time zone,
  resolved_by_id bigint,
  assignee_id bigint,
  issue_id bigint,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint error_tracking_errors_pkey PRIMARY KEY (id),
  constraint error_tracking_errors_project_id_fingerprint_key UNIQUE (project_id, fingerprint),
  constraint error_tracking_errors_level_check CHECK (level = ANY (ARRAY['fatal'::text, 'error'::text, 'warning'::text, 'info'::text, 'debug'::text])),
  constraint error_tracking_errors_status_check CHECK (status = ANY (ARRAY['unresolved'::text, 'resolved'::text, 'ignored'::text]))
);
CREATE INDEX error_tracking_errors_assignee_id_idx ON error_tracking_errors USING btree (assignee_id) WHERE assignee_id IS NOT NULL;
CREATE UNIQUE INDEX error_tracking_errors_issue_id_idx ON error_tracking_errors USING btree (issue_id) WHERE issue_id IS NOT NULL;
CREATE INDEX error_tracking_errors_last_seen_at_idx ON error_tracking_errors USING btree (last_seen_at);
CREATE INDEX error_tracking_errors_project_id_events_count_id_idx ON error_tracking_errors USING btree (project_id, events_count, id);
CREATE INDEX error_tracking_errors_project_id_first_seen_at_id_idx ON error_tracking_errors USING btree (project_id, first_seen_at, id);
CREATE INDEX error_tracking_errors_project_id_last_seen_at_id_idx ON error_tracking_errors USING btree (project_id, last_seen_at, id);
CREATE INDEX error_tracking_errors_project_id_level_last_seen_at_id_idx ON error_tracking_errors USING btree (project_id, level, last_seen_at, id);
CREATE INDEX error_tracking_errors_project_id_status_events_count_id_idx ON error_tracking_errors USING btree (project_id, status, events_count, id);
CREATE INDEX error_tracking_errors_project_id_status_first_seen_at_id_idx ON error_tracking_errors USING btree (project_id, status, first_seen_at, id);
CREATE INDEX error_tracking_errors_project_id_status_last_seen_at_id_idx ON error_tracking_errors USING btree (project_id, status, last_seen_at, id);
CREATE INDEX error_tracking_errors_project_id_status_users_count_id_idx ON error_tracking_errors USING btree (project_id, status, users_count, id);
CREATE INDEX error_tracking_errors_project_id_users_count_id_idx ON error_tracking_errors USING btree (project_id, users_count, id);
CREATE INDEX error_tracking_errors_resolved_by_id_idx ON error_tracking_errors USING btree (resolved_by_id) WHERE resolved_by_id IS NOT NULL;
comment on table error_tracking_errors is 'Groups of events with the same cause. An error without a project is being deleted by a job.';
comment on column error_tracking_errors.fingerprint is 'What the events are grouped by.';

create table error_tracking_events (
  id bigint generated always as identity not null,
  project_id bigint not null,
  event_id uuid not null,
  received_at timestamp with time zone default now() not null,
  error_id bigint,
  occurred_at timestamp with time zone not null,
  environment text not null,
  level text not null,
  description text not null,
  release text,
  user_hash bytea,
  payload text not null,
  user_report jsonb,
  name text not null,
  actor text not null,
  platform text not null,
  fingerprint text not null,
  tags jsonb not null,
  constraint error_tracking_events_pkey PRIMARY KEY (received_at, id)
) partition by RANGE (received_at);
CREATE INDEX error_tracking_events_error_id_occurred_at_id_idx ON ONLY error_tracking_events USING btree (error_id, occurred_at, id);
CREATE INDEX error_tracking_events_id_idx1 ON ONLY error_tracking_events USING btree (id);
CREATE INDEX error_tracking_events_project_id_event_id_idx ON ONLY error_tracking_events USING btree (project_id, event_id);
create table error_tracking_events_default partition of error_tracking_events default;
comment on table error_tracking_events is 'Events that applications sent, in partitions by time. They are stored before the sender gets its answer and grouped afterwards.';
comment on column error_tracking_events.user_hash is 'A salted hash of the user, different in every project.';

create table error_tracking_notices (
  project_id bigint not null,
  began_at timestamp with time zone default now() not null,
  count integer not null,
  constraint error_tracking_notices_pkey PRIMARY KEY (project_id)
);
comment on table error_tracking_notices is 'Mails about errors that a project has sent in the hour that began then.';

create unlogged table error_tracking_rates (
  project_id bigint not null,
  minute timestamp with time zone not null,
  count integer not null,
  others integer default 0 not null,
  constraint error_tracking_rates_pkey PRIMARY KEY (project_id, minute)
);
CREATE INDEX error_tracking_rates_minute_idx ON error_tracking_rates USING btree (minute);
comment on table error_tracking_rates is 'Events that each project sent in a minute.';
comment on column error_tracking_rates.others is 'Sessions and user reports, which have a limit of their own.';

create table error_tracking_release_hours (
  release_id bigint not null,
  hour timestamp with time zone not null,
  started bigint default 0 not null,
  exited bigint default 0 not null,
  errored bigint default 0 not null,
  crashed bigint default 0 not null,
  abnormal bigint default 0 not null,
  constraint error_tracking_release_hours_pkey PRIMARY KEY (release_id, hour)
);
CREATE INDEX error_tracking_release_hours_hour_idx ON error_tracking_release_hours USING btree (hour);
comment on table error_tracking_release_hours is 'Sessions of a release by hour and outcome.';

create table error_tracking_release_users (
  release_id bigint not null,
  user_hash bytea not null,
  seen_at timestamp with time zone not null,
  constraint error_tracking_release_users_pkey PRIMARY KEY (release_id, user_hash)
);
CREATE INDEX error_tracking_release_users_seen_at_idx ON error_tracking_release_users USING btree (seen_at);
comment on table error_tracking_release_users is 'Users of a release, by a salted hash.';

create table error_tracking_releases (
  id bigint generated always as identity not null,
  project_id bigint not null,
  release text not null,
  environment text not null,
  users_count bigint default 0 not null,
  last_seen_at timestamp with time zone not null,
  constraint error_tracking_releases_pkey PRIMARY KEY (id),
  constraint error_tracking_releases_project_id_release_environment_key UNIQUE (project_id, release, environment)
);
CREATE INDEX error_tracking_releases_last_seen_at_idx ON error_tracking_releases USING btree (last_seen_at);
CREATE INDEX error_tracking_releases_project_id_last_seen_at_id_idx ON error_tracking_releases USING btree (project_id, last_seen_at, id);
comment on table error_tracking_releases is 'Releases of applications in an environment, as clients name them.';

create table error_tracking_sessions (
  release_id bigint not null,
  session_id uuid not null,
  state text not null,
  hour timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  updated_at timestamp with time zone default now() not null,
  constraint error_tracking_sessions_pkey PRIMARY KEY (release_id, session_id),
  constraint error_tracking_sessions_state_check CHECK (state = ANY (ARRAY['started'::text, 'exited'::text, 'errored'::text, 'crashed'::text, 'abnormal'::text]))
);
CREATE INDEX error_tracking_sessions_updated_at_idx ON error_tracking_sessions USING btree (updated_at);
comment on table error_tracking_sessions is 'The last state of each session, so that it counts once.';
comment on column error_tracking_sessions.hour is 'The hour of its start, in which it counts.';
comment on column error_tracking_sessions.changed_at is 'The time of the last change by the clock of the client: a late message does not bring an earlier state back.';

create table error_tracking_settings (
  project_id bigint not null,
  active boolean not null,
  integrated boolean not null,
  events_per_minute integer,
  user_salt bytea default uuid_send(gen_random_uuid()) not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  alert_events integer,
  alert_users integer,
  alert_minutes integer default 60 not null,
  constraint error_tracking_settings_pkey PRIMARY KEY (project_id),
  constraint error_tracking_settings_alert_events_check CHECK (alert_events >= 1 AND alert_events <= 10000),
  constraint error_tracking_settings_alert_minutes_check CHECK (alert_minutes >= 1 AND alert_minutes <= 1440),
  constraint error_tracking_settings_alert_users_check CHECK (alert_users >= 1 AND alert_users <= 1000),
  constraint error_tracking_settings_events_per_minute_check CHECK (events_per_minute >= 0)
);
comment on table error_tracking_settings is 'Settings of error tracking by project.';
comment on column error_tracking_settings.user_salt is 'The salt of the hashes of users in this project.';

create table error_tracking_source_maps (
  id bigint generated always as identity not null,
  bundle_id bigint not null,
  project_id bigint not null,
  debug_id uuid,
  url text,
  blob_key text not null,
  size_bytes integer not null,
  used_at timestamp with time zone,
  digest text,
  constraint error_tracking_source_maps_pkey PRIMARY KEY (id)
);
CREATE INDEX error_tracking_source_maps_blob_key_idx ON error_tracking_source_maps USING btree (blob_key);
CREATE INDEX error_tracking_source_maps_bundle_id_idx ON error_tracking_source_maps USING btree (bundle_id);
CREATE INDEX error_tracking_source_maps_project_id_debug_id_idx ON error_tracking_source_maps USING btree (project_id, debug_id);
CREATE INDEX error_tracking_source_maps_project_id_url_idx ON error_tracking_source_maps USING btree (project_id, url);
CREATE INDEX error_tracking_source_maps_used_at_idx ON error_tracking_source_maps USING btree (used_at) WHERE used_at IS NOT NULL;
comment on table error_tracking_source_maps is 'Source maps of an archive, as blobs in raw deflate.';
comment on column error_tracking_source_maps.url is 'The address of the file that the map is about, with `~` for scheme and host.';
comment on column error_tracking_source_maps.used_at is 'When it was last read; null keeps it as long as its release.';

create table error_tracking_versions (
  id bigint generated always as identity not null,
  project_id bigint not null,
  version text not null,
  url text,
  commit_sha text,
  started_at timestamp with time zone,
  released_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  used_at timestamp with time zone default now() not null,
  constraint error_tracking_versions_pkey PRIMARY KEY (id),
  constraint error_tracking_versions_project_id_version_key UNIQUE (project_id, version),
  constraint error_tracking_versions_commit_sha_check CHECK (commit_sha ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'::text)
);
CREATE INDEX error_tracking_versions_project_id_created_at_id_idx ON error_tracking_versions USING btree (project_id, created_at, id);
CREATE INDEX error_tracking_versions_used_at_idx ON error_tracking_versions USING btree (used_at);
comment on table error_tracking_versions is 'Releases that clients announce, and upload source maps for.';

create table error_tracking_waiting_events (
  id bigint not null,
  received_at timestamp with time zone not null,
  constraint error_tracking_waiting_events_pkey PRIMARY KEY (id)
);
comment on table error_tracking_waiting_events is 'Events that are not grouped yet.';

create table events (
  id bigint generated always as identity not null,
  project_id bigint,
  author_id bigint not null,
  action text not null,
  target_type text,
  target_id bigint,
  imported_from text default 'none'::text not null,
  created_at timestamp with time zone default now() not null,
  constraint events_pkey PRIMARY KEY (id),
  constraint events_action_check CHECK (action = ANY (ARRAY['created'::text, 'updated'::text, 'closed'::text, 'reopened'::text, 'pushed'::text, 'commented'::text, 'merged'::text, 'joined'::text, 'left'::text, 'destroyed'::text, 'expired'::text, 'approved'::text, 'transferred'::text]))
);
CREATE INDEX events_by_age ON events USING btree (created_at);
CREATE INDEX events_by_target ON events USING btree (target_id, target_type);
CREATE INDEX events_of_author ON events USING btree (author_id, id);
CREATE INDEX events_of_author_by_time ON events USING btree (author_id, created_at, id);
CREATE INDEX events_of_project ON events USING btree (project_id, id);
CREATE INDEX events_of_project_by_action ON events USING btree (project_id, action, id);
CREATE INDEX events_of_project_by_target ON events USING btree (project_id, target_type, id);
CREATE INDEX events_of_project_by_time ON events USING btree (project_id, created_at, id);
comment on table events is 'What users did, for lists of activity. An event outlives its target.';

create table feature_flag_clients (
  project_id bigint not null,
  instance_id bytea not null,
  instance_digest bytea not null,
  version bigint default 1 not null,
  last_seen_at timestamp with time zone,
  sdk text,
  constraint feature_flag_clients_pkey PRIMARY KEY (project_id)
) with (fillfactor=70);
comment on table feature_flag_clients is 'How the applications of a project identify themselves to the feature flag API.';
comment on column feature_flag_clients.instance_id is 'Encrypted with the secret key.';
comment on column feature_flag_clients.version is 'Raised by each change of what the applications get.';

create table feature_flag_scopes (
  id bigint generated always as identity not null,
  strategy_id bigint not null,
  environment_scope text not null,
  constraint feature_flag_scopes_pkey PRIMARY KEY (id),
  constraint feature_flag_scopes_environment UNIQUE (strategy_id, environment_scope)
);
comment on table feature_flag_scopes is 'Environments that a strategy applies to.';

create table feature_flag_strategies (
  id bigint generated always as identity not null,
  feature_flag_id bigint not null,
  name text not null,
  parameters jsonb default '{}'::jsonb not null,
  user_list_id bigint,
  constraint feature_flag_strategies_pkey PRIMARY KEY (id),
  constraint feature_flag_strategies_check CHECK (user_list_id IS NULL OR name = 'gitlabUserList'::text),
  constraint feature_flag_strategies_name_check CHECK (name = ANY (ARRAY['default'::text, 'flexibleRollout'::text, 'gradualRolloutUserId'::text, 'userWithId'::text, 'gitlabUserList'::text]))
);
CREATE INDEX feature_flag_strategies_by_flag ON feature_flag_strategies USING btree (feature_flag_id, id);
CREATE INDEX feature_flag_strategies_by_user_list ON feature_flag_strategies USING btree (user_list_id) WHERE user_list_id IS NOT NULL;
comment on table feature_flag_strategies is 'Strategies of feature flags.';

create table feature_flag_user_lists (
  id bigint generated always as identity not null,
  project_id bigint not null,
  iid integer not null,
  name text not null,
  user_xids text default ''::text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint feature_flag_user_lists_pkey PRIMARY KEY (id),
  constraint feature_flag_user_lists_iid UNIQUE (project_id, iid),
  constraint feature_flag_user_lists_name UNIQUE (project_id, name)
);
comment on table feature_flag_user_lists is 'Lists of users for strategies.';
comment on column feature_flag_user_lists.user_xids is 'Ids of users in the application, separated by commas.';

create table feature_flags (
  id bigint generated always as identity not null,
  project_id bigint not null,
  iid integer not null,
  name text not null,
  description text,
  active boolean default true not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint feature_flags_pkey PRIMARY KEY (id),
  constraint feature_flags_iid UNIQUE (project_id, iid),
  constraint feature_flags_name UNIQUE (project_id, name)
);
comment on table feature_flags is 'Feature flags, which applications ask for through Unleash SDKs.';

create table feature_gates (
  feature_name text not null,
  key text not null,
  value text not null,
  constraint feature_gates_pkey PRIMARY KEY (feature_name, key, value),
  constraint feature_gates_key_check CHECK (key = ANY (ARRAY['boolean'::text, 'percentage_of_actors'::text, 'percentage_of_time'::text, 'actors'::text, 'groups'::text]))
);
CREATE UNIQUE INDEX feature_gates_of_one_value ON feature_gates USING btree (feature_name, key) WHERE key = ANY (ARRAY['boolean'::text, 'percentage_of_actors'::text, 'percentage_of_time'::text]);
comment on table feature_gates is 'Gates of features: each of them suffices to enable the feature.';

create table features (
  name text not null,
  constraint features_pkey PRIMARY KEY (name)
);
comment on table features is 'Experiments that administrators have set. One without a row is as its definition says.';

create table freeze_periods (
  id bigint generated always as identity not null,
  project_id bigint not null,
  freeze_start text not null,
  freeze_end text not null,
  cron_timezone text default 'UTC'::text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint freeze_periods_pkey PRIMARY KEY (id)
);
CREATE INDEX freeze_periods_by_project ON freeze_periods USING btree (project_id, created_at, id);
comment on table freeze_periods is 'Periods in which a project is not deployed, as cron expressions.';

create table geo_checksums (
  replicable text not null,
  record text not null,
  checksum text,
  head text,
  size_bytes bigint,
  event_id bigint default 0 not null,
  checked_at timestamp with time zone,
  due_at timestamp with time zone default now() not null,
  failure text,
  is_missing boolean default false not null,
  part text generated always as (
CASE
    WHEN (replicable ~~ '%_repositories'::text) THEN 'repositories'::text
    ELSE 'files'::text
END) stored not null,
  constraint geo_checksums_pkey PRIMARY KEY (replicable, record)
);
CREATE INDEX geo_checksums_by_time ON geo_checksums USING btree (part, due_at, replicable, record);
comment on table geo_checksums is 'Checksums of repositories and files on this site, which copies are compared with.';
comment on column geo_checksums.record is 'The id of the owner of a repository, or the key of a blob.';
comment on column geo_checksums.event_id is 'The last event before the checksum was computed.';

create table geo_cursors (
  name text not null,
  value text not null,
  constraint geo_cursors_pkey PRIMARY KEY (name)
);
comment on table geo_cursors is 'How far the jobs of Geo have come on this site.';

create table geo_events (
  id bigint generated always as identity not null,
  replicable text not null,
  record text not null,
  part text generated always as (
CASE
    WHEN (replicable ~~ '%_repositories'::text) THEN 'repositories'::text
    ELSE 'files'::text
END) stored not null,
  created_at timestamp with time zone default now() not null,
  is_checked boolean default false not null,
  constraint geo_events_pkey PRIMARY KEY (id)
);
CREATE INDEX geo_events_by_age ON geo_events USING btree (created_at);
CREATE INDEX geo_events_unchecked ON geo_events USING btree (part, id) WHERE NOT is_checked;
comment on table geo_events is 'Changes of repositories and files while there is a secondary: each secondary looks at the record again.';
comment on column geo_events.is_checked is 'Whether the checksum of the record has been computed since.';

create table geo_following (
  id integer default 1 not null,
  server uuid default gen_random_uuid() not null,
  state text default 'waiting'::text not null,
  problem text,
  slot text,
  copied_at timestamp with time zone,
  awaited_position pg_lsn,
  awaited_at timestamp with time zone,
  awaited_errors bigint,
  caught_up_at timestamp with time zone,
  promoted_at timestamp with time zone,
  constraint geo_following_pkey PRIMARY KEY (id),
  constraint geo_following_id_check CHECK (id = 1),
  constraint geo_following_state_check CHECK (state = ANY (ARRAY['waiting'::text, 'copying'::text, 'following'::text, 'paused'::text]))
);
comment on table geo_following is 'How this site follows its primary. A site''s own.';
comment on column geo_following.server is 'Identifies this server among all that use the name of the same node.';
comment on column geo_following.slot is 'The replication slot on the primary.';
comment on column geo_following.copied_at is 'Null until the first copy of the database is complete.';
comment on column geo_following.caught_up_at is 'When this site last had everything that the primary had.';
comment on column geo_following.awaited_position is 'A position of the primary''s log that is to be reached.';
comment on column geo_following.promoted_at is 'When this server was promoted: it never follows again, whatever its configuration says.';

create table geo_links (
  geo_node_id bigint not null,
  server uuid not null,
  seen_at timestamp with time zone not null,
  constraint geo_links_pkey PRIMARY KEY (geo_node_id)
);
comment on table geo_links is 'The server that the primary last saw for a node. A site''s own.';

create table geo_node_namespaces (
  geo_node_id bigint not null,
  namespace_id bigint not null,
  constraint geo_node_namespaces_pkey PRIMARY KEY (geo_node_id, namespace_id)
);
CREATE INDEX geo_node_namespaces_namespace_id ON geo_node_namespaces USING btree (namespace_id);
comment on table geo_node_namespaces is 'Namespaces that a secondary is limited to, with everything below them.';

create table geo_nodes (
  id bigint generated always as identity not null,
  name citext not null,
  url text not null,
  internal_url text,
  "primary" boolean default false not null,
  enabled boolean default true not null,
  files_max_capacity integer default 10 not null,
  repos_max_capacity integer default 25 not null,
  verification_max_capacity integer default 100 not null,
  container_repositories_max_capacity integer default 10 not null,
  sync_object_storage boolean default false not null,
  selective_sync_type text,
  selective_sync_shards text[] default '{}'::text[] not null,
  minimum_reverification_interval integer default 7 not null,
  blob_download_timeout integer default 28800 not null,
  credential bytea,
  refresh_requested_at timestamp with time zone,
  repair_requested_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  promoted_at timestamp with time zone,
  constraint geo_nodes_pkey PRIMARY KEY (id),
  constraint geo_nodes_name_key UNIQUE (name),
  constraint geo_nodes_blob_download_timeout_check CHECK (blob_download_timeout >= 1 AND blob_download_timeout <= 86400),
  constraint geo_nodes_container_repositories_max_capacity_check CHECK (container_repositories_max_capacity >= 0),
  constraint geo_nodes_files_max_capacity_check CHECK (files_max_capacity >= 0),
  constraint geo_nodes_minimum_reverification_interval_check CHECK (minimum_reverification_interval >= 1),
  constraint geo_nodes_name_check CHECK (length(name::text) >= 1 AND length(name::text) <= 255),
  constraint geo_nodes_repos_max_capacity_check CHECK (repos_max_capacity >= 0),
  constraint geo_nodes_selective_sync_type_check CHECK (selective_sync_type = ANY (ARRAY['namespaces'::text, 'shards'::text])),
  constraint geo_nodes_verification_max_capacity_check CHECK (verification_max_capacity >= 0)
);
CREATE UNIQUE INDEX geo_nodes_one_primary ON geo_nodes USING btree ("primary") WHERE "primary";
comment on table geo_nodes is 'Sites of the installation: one primary and its secondaries.';
comment on column geo_nodes.credential is 'A random text that only the primary and this secondary know, encrypted; null for the primary, and when it was lost.';
comment on column geo_nodes.refresh_requested_at is 'When a new status, and another try of all failed copies, was asked for.';
comment on column geo_nodes.promoted_at is 'When the site became the primary in the place of another: of two sites that claim it, the later one is right.';

create unlogged table geo_nonces (
  nonce bytea not null,
  seen_at timestamp with time zone default now() not null,
  constraint geo_nonces_pkey PRIMARY KEY (nonce)
);
CREATE INDEX geo_nonces_by_time ON geo_nonces USING btree (seen_at);
comment on table geo_nonces is 'Nonces of signatures between sites, for two minutes. A site''s own.';

create table geo_positions (
  geo_node_id bigint not null,
  "position" bigint not null,
  constraint geo_positions_pkey PRIMARY KEY (geo_node_id)
);
comment on table geo_positions is 'Raised after a write that a secondary passed on: a secondary that has the number has the write.';

create table geo_replicas (
  replicable text not null,
  record text not null,
  state text default 'pending'::text not null,
  event_id bigint default 0 not null,
  checksum text,
  size_bytes bigint,
  retry_count integer default 0 not null,
  retry_at timestamp with time zone default now() not null,
  last_synced_at timestamp with time zone,
  last_successful_sync_at timestamp with time zone,
  last_sync_failure text,
  verification_state text default 'pending'::text not null,
  verified_at timestamp with time zone,
  last_verification_failure text,
  missing_on_primary boolean default false not null,
  created_at timestamp with time zone default now() not null,
  part text generated always as (
CASE
    WHEN (replicable ~~ '%_repositories'::text) THEN 'repositories'::text
    ELSE 'files'::text
END) stored not null,
  is_retry boolean generated always as ((retry_count > 0)) stored not null,
  constraint geo_replicas_pkey PRIMARY KEY (replicable, record),
  constraint geo_replicas_state_check CHECK (state = ANY (ARRAY['pending'::text, 'started'::text, 'synced'::text, 'failed'::text])),
  constraint geo_replicas_verification_state_check CHECK (verification_state = ANY (ARRAY['pending'::text, 'verified'::text, 'failed'::text]))
);
CREATE INDEX geo_replicas_by_verification ON geo_replicas USING btree (verified_at) WHERE state = 'synced'::text;
CREATE INDEX geo_replicas_due ON geo_replicas USING btree (part, is_retry, retry_at, replicable, record) WHERE state <> 'synced'::text;
comment on table geo_replicas is 'Copies of repositories and files on this secondary. A site''s own.';
comment on column geo_replicas.event_id is 'The last event about the record.';

create table geo_statuses (
  geo_node_id bigint not null,
  status jsonb not null,
  reported_at timestamp with time zone default now() not null,
  constraint geo_statuses_pkey PRIMARY KEY (geo_node_id)
);
comment on table geo_statuses is 'The last status of each node.';

create table gpg_keys (
  id bigint generated always as identity not null,
  user_id bigint not null,
  key text not null,
  fingerprint bytea not null,
  created_at timestamp with time zone default now() not null,
  constraint gpg_keys_pkey PRIMARY KEY (id),
  constraint gpg_keys_fingerprint_key UNIQUE (fingerprint)
);
CREATE INDEX gpg_keys_by_user ON gpg_keys USING btree (user_id, id);
comment on table gpg_keys is 'Public OpenPGP keys of users.';
comment on column gpg_keys.fingerprint is 'Of the primary key (RFC 9580, section 5.5.4).';

create table group_approval_settings (
  group_id bigint not null,
  reset_approvals_on_push boolean default false not null,
  selective_code_owner_removals boolean default false not null,
  disable_overriding_approvers_per_merge_request boolean default false not null,
  merge_requests_author_approval boolean default true not null,
  merge_requests_disable_committers_approval boolean default false not null,
  require_password_to_approve boolean default false not null,
  constraint group_approval_settings_pkey PRIMARY KEY (group_id)
);
comment on table group_approval_settings is 'Approval settings of groups; the strictest setting above a project wins.';

create table group_authorizations (
  user_id bigint not null,
  group_id bigint not null,
  access_level integer not null,
  expires_at date,
  member_role_id bigint,
  constraint group_authorizations_key UNIQUE NULLS NOT DISTINCT (user_id, group_id, access_level, member_role_id) INCLUDE (expires_at)
);
CREATE INDEX group_authorizations_by_group ON group_authorizations USING btree (group_id, user_id, access_level) INCLUDE (expires_at);
CREATE INDEX group_authorizations_by_role ON group_authorizations USING btree (member_role_id) WHERE member_role_id IS NOT NULL;
alter table group_authorizations replica identity full;
comment on table group_authorizations is 'What a user may do in a group, derived from members, links and the tree of groups in the transaction of each change. There are several rows while a higher level ends before a lower one.';

create table group_links (
  id bigint generated always as identity not null,
  group_id bigint,
  project_id bigint,
  invited_group_id bigint not null,
  access_level integer not null,
  expires_at date,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint group_links_pkey PRIMARY KEY (id),
  constraint group_links_group_key UNIQUE (group_id, invited_group_id),
  constraint group_links_project_key UNIQUE (project_id, invited_group_id),
  constraint group_links_access_level_check CHECK (access_level = ANY (ARRAY[10, 15, 20, 30, 40, 50])),
  constraint group_links_not_itself CHECK (group_id <> invited_group_id),
  constraint group_links_one_target CHECK (num_nonnulls(group_id, project_id) = 1)
);
CREATE INDEX group_links_by_invited ON group_links USING btree (invited_group_id, id);
CREATE INDEX group_links_expiring ON group_links USING btree (expires_at) WHERE expires_at IS NOT NULL;
comment on table group_links is 'Groups that are invited into another group, or into a project. Their members count there with their own level, at most that of the link.';

create table group_seats (
  group_id bigint not null,
  most_used integer not null,
  constraint group_seats_pkey PRIMARY KEY (group_id)
);
comment on table group_seats is 'The most seats that the members of a top-level group have taken.';

create table hook_deliveries (
  id bigint generated always as identity not null,
  hook_id bigint not null,
  event_id uuid not null,
  idempotency_key uuid default gen_random_uuid() not null,
  attempt integer default 1 not null,
  due_at timestamp with time zone,
  url text,
  request_headers jsonb,
  response_status integer,
  response_headers jsonb,
  response_body text,
  execution_duration double precision,
  created_at timestamp with time zone default now() not null,
  constraint hook_deliveries_pkey PRIMARY KEY (id),
  constraint hook_deliveries_attempt_check CHECK (attempt > 0)
);
CREATE INDEX hook_deliveries_due ON hook_deliveries USING btree (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX hook_deliveries_of_event ON hook_deliveries USING btree (event_id);
CREATE INDEX hook_deliveries_of_hook ON hook_deliveries USING btree (hook_id, id);
comment on table hook_deliveries is 'Attempts to send an event to a webhook: those that are due, and the log of the others.';
comment on column hook_deliveries.idempotency_key is 'The same for all attempts.';
comment on column hook_deliveries.response_status is 'Null when there was no response; the body then says why.';
comment on column hook_deliveries.execution_duration is 'In seconds.';

create table hook_events (
  id uuid default gen_random_uuid() not null,
  trigger text not null,
  is_system boolean not null,
  facts json,
  body text,
  hook_ids bigint[] not null,
  created_at timestamp with time zone default now() not null,
  depth smallint default 0 not null,
  constraint hook_events_pkey PRIMARY KEY (id),
  constraint hook_events_check CHECK (num_nonnulls(facts, body) = 1)
);
CREATE INDEX hook_events_by_age ON hook_events USING btree (created_at);
comment on table hook_events is 'Changes that webhooks are told of, written in the transaction of the change. A job makes the body and the deliveries.';
comment on column hook_events.is_system is 'Whether it is for webhooks of the server, which get other bodies.';
comment on column hook_events.facts is 'What the body is made from.';
comment on column hook_events.depth is 'How many events have led to this one, each by a call of the receiver of the one before.';

create table hooks (
  id bigint generated always as identity not null,
  project_id bigint,
  group_id bigint,
  url text not null,
  name text,
  description text,
  secrets bytea not null,
  enable_ssl_verification boolean default true not null,
  push_events_branch_filter text,
  branch_filter_strategy text default 'wildcard'::text not null,
  custom_webhook_template text,
  push_events boolean default true not null,
  tag_push_events boolean default false not null,
  merge_requests_events boolean default false not null,
  repository_update_events boolean default false not null,
  issues_events boolean default false not null,
  confidential_issues_events boolean default false not null,
  note_events boolean default false not null,
  confidential_note_events boolean default false not null,
  milestone_events boolean default false not null,
  emoji_events boolean default false not null,
  resource_access_token_events boolean default false not null,
  member_events boolean default false not null,
  subgroup_events boolean default false not null,
  project_events boolean default false not null,
  job_events boolean default false not null,
  pipeline_events boolean default false not null,
  wiki_page_events boolean default false not null,
  deployment_events boolean default false not null,
  releases_events boolean default false not null,
  feature_flag_events boolean default false not null,
  vulnerability_events boolean default false not null,
  recent_failures integer default 0 not null,
  disabled_until timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  error_events boolean default false not null,
  constraint hooks_pkey PRIMARY KEY (id),
  constraint hooks_branch_filter_strategy_check CHECK (branch_filter_strategy = ANY (ARRAY['wildcard'::text, 'regex'::text, 'all_branches'::text])),
  constraint hooks_have_one_owner CHECK (num_nonnulls(project_id, group_id) <= 1),
  constraint hooks_recent_failures_check CHECK (recent_failures >= 0)
);
CREATE INDEX hooks_of_group ON hooks USING btree (group_id, id) WHERE group_id IS NOT NULL;
CREATE INDEX hooks_of_instance ON hooks USING btree (id) WHERE project_id IS NULL AND group_id IS NULL;
CREATE INDEX hooks_of_project ON hooks USING btree (project_id, id) WHERE project_id IS NOT NULL;
comment on table hooks is 'Webhooks of a project, of a group and everything below it, or of the whole server.';
comment on column hooks.secrets is 'Tokens, URL variables and custom headers as JSON, encrypted with the secret key.';
comment on column hooks.recent_failures is 'Failures since the last success. From the fourth on, the webhook is disabled for a while; from the fortieth on, until a test succeeds.';

create table instance (
  id integer default 1 not null,
  secret_fingerprint bytea not null,
  uuid uuid default gen_random_uuid() not null,
  constraint instance_pkey PRIMARY KEY (id),
  constraint instance_id_check CHECK (id = 1)
);
comment on table instance is 'What a server knows about itself: one row, made at its first start.';
comment on column instance.secret_fingerprint is 'Identifies the secret key, which is not stored.';
comment on column instance.uuid is 'The same on all sites of an installation.';

create table internal_ids (
  project_id bigint,
  namespace_id bigint,
  usage text not null,
  last_value integer not null,
  constraint internal_ids_key UNIQUE NULLS NOT DISTINCT (project_id, namespace_id, usage),
  constraint internal_ids_have_one_owner CHECK (num_nonnulls(project_id, namespace_id) = 1),
  constraint internal_ids_usage_check CHECK (usage = ANY (ARRAY['issues'::text, 'milestones'::text, 'epics'::text, 'iterations'::text, 'merge_requests'::text, 'feature_flags'::text, 'feature_flag_user_lists'::text, 'deployments'::text, 'pipelines'::text]))
) with (fillfactor=50);
CREATE INDEX internal_ids_by_namespace ON internal_ids USING btree (namespace_id) WHERE namespace_id IS NOT NULL;
alter table internal_ids replica identity full;
comment on table internal_ids is 'The last number of each kind in a project or group. A transaction that takes one holds the row until its end, so that there are no gaps and no repeats.';

create table invitations (
  id bigint generated always as identity not null,
  group_id bigint,
  project_id bigint,
  invite_email citext not null,
  access_level integer not null,
  member_role_id bigint,
  expires_at timestamp with time zone,
  created_by_id bigint,
  seed uuid default gen_random_uuid() not null,
  reminders integer default 0 not null,
  remind_on date,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint invitations_pkey PRIMARY KEY (id),
  constraint invitations_group_key UNIQUE (group_id, invite_email),
  constraint invitations_project_key UNIQUE (project_id, invite_email),
  constraint invitations_seed_key UNIQUE (seed),
  constraint invitations_access_level_check CHECK (access_level = ANY (ARRAY[5, 10, 15, 20, 30, 40, 50])),
  constraint invitations_minimal_in_groups CHECK (access_level >= 10 OR project_id IS NULL),
  constraint invitations_one_source CHECK (num_nonnulls(group_id, project_id) = 1),
  constraint invitations_reminders_check CHECK (reminders >= 0 AND reminders <= 3)
);
CREATE INDEX invitations_by_address ON invitations USING btree (invite_email, id);
CREATE INDEX invitations_by_creation ON invitations USING btree (created_at);
CREATE INDEX invitations_by_creator ON invitations USING btree (created_by_id) WHERE created_by_id IS NOT NULL;
CREATE INDEX invitations_by_group ON invitations USING btree (group_id, id) WHERE group_id IS NOT NULL;
CREATE INDEX invitations_by_project ON invitations USING btree (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX invitations_by_role ON invitations USING btree (member_role_id) WHERE member_role_id IS NOT NULL;
CREATE INDEX invitations_expiring ON invitations USING btree (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX invitations_to_remind ON invitations USING btree (remind_on, id) WHERE remind_on IS NOT NULL;
comment on table invitations is 'Invitations by email address. An invitation grants nothing until it is accepted.';
comment on column invitations.seed is 'The seed of the link. The token is not stored.';
comment on column invitations.remind_on is 'The day of the next reminder; null when there is none to come.';

create table issue_assignees (
  issue_id bigint not null,
  user_id bigint not null,
  constraint issue_assignees_pkey PRIMARY KEY (issue_id, user_id)
);
CREATE INDEX issue_assignees_by_user ON issue_assignees USING btree (user_id, issue_id);
comment on table issue_assignees is 'Assignees of issues.';

create table issue_labels (
  issue_id bigint not null,
  label_id bigint not null,
  constraint issue_labels_pkey PRIMARY KEY (issue_id, label_id)
);
CREATE INDEX issue_labels_by_label ON issue_labels USING btree (label_id, issue_id);
comment on table issue_labels is 'Labels of issues.';

create table issue_links (
  id bigint generated always as identity not null,
  source_id bigint not null,
  target_id bigint not null,
  link_type text default 'relates_to'::text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint issue_links_pkey PRIMARY KEY (id),
  constraint issue_links_link_type_check CHECK (link_type = ANY (ARRAY['relates_to'::text, 'blocks'::text])),
  constraint issue_links_of_two CHECK (source_id <> target_id)
);
CREATE INDEX issue_links_by_source ON issue_links USING btree (source_id, id);
CREATE INDEX issue_links_by_target ON issue_links USING btree (target_id, id);
CREATE UNIQUE INDEX issue_links_key ON issue_links USING btree (LEAST(source_id, target_id), GREATEST(source_id, target_id));
comment on table issue_links is 'Links between issues. `is_blocked_by` is a `blocks` in the other direction.';

create table issue_metric_images (
  id bigint generated always as identity not null,
  issue_id bigint not null,
  filename text not null,
  blob_key text not null,
  size_bytes bigint not null,
  url text,
  url_text text,
  created_at timestamp with time zone default now() not null,
  constraint issue_metric_images_pkey PRIMARY KEY (id)
);
CREATE INDEX issue_metric_images_by_blob ON issue_metric_images USING btree (blob_key);
CREATE INDEX issue_metric_images_by_issue ON issue_metric_images USING btree (issue_id, id);
comment on table issue_metric_images is 'Metric images of incidents; the bytes are blobs.';

create table issue_user_agents (
  issue_id bigint not null,
  user_agent text not null,
  ip_address inet not null,
  akismet_submitted boolean default false not null,
  constraint issue_user_agents_pkey PRIMARY KEY (issue_id)
);
comment on table issue_user_agents is 'Where an issue was written from, for administrators who look for spam.';

create table issues (
  id bigint generated always as identity not null,
  project_id bigint not null,
  iid integer not null,
  title text not null,
  description text,
  state text default 'opened'::text not null,
  issue_type text default 'issue'::text not null,
  author_id bigint,
  confidential boolean default false not null,
  discussion_locked boolean,
  milestone_id bigint,
  iteration_id bigint,
  due_date date,
  weight integer,
  health_status text,
  severity text default 'UNKNOWN'::text not null,
  relative_position bigint,
  time_estimate_s integer default 0 not null,
  total_time_spent_s integer default 0 not null,
  closed_at timestamp with time zone,
  closed_by_id bigint,
  moved_to_id bigint,
  duplicated_to_id bigint,
  imported_from text default 'none'::text not null,
  task_count integer default 0 not null,
  completed_task_count integer default 0 not null,
  user_notes_count integer default 0 not null,
  upvotes integer default 0 not null,
  downvotes integer default 0 not null,
  milestone_due_date date,
  label_priority integer,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  is_labelled boolean,
  is_assigned boolean,
  constraint issues_pkey PRIMARY KEY (id),
  constraint issues_iid_key UNIQUE (project_id, iid),
  constraint issues_health_status_check CHECK (health_status = ANY (ARRAY['on_track'::text, 'needs_attention'::text, 'at_risk'::text])),
  constraint issues_issue_type_check CHECK (issue_type = ANY (ARRAY['issue'::text, 'incident'::text, 'test_case'::text, 'task'::text])),
  constraint issues_severity_check CHECK (severity = ANY (ARRAY['UNKNOWN'::text, 'LOW'::text, 'MEDIUM'::text, 'HIGH'::text, 'CRITICAL'::text])),
  constraint issues_state_check CHECK (state = ANY (ARRAY['opened'::text, 'closed'::text])),
  constraint issues_weight_check CHECK (weight >= 0)
);
CREATE INDEX issues_by_author ON issues USING btree (author_id, created_at, id);
CREATE INDEX issues_by_closer ON issues USING btree (closed_by_id) WHERE closed_by_id IS NOT NULL;
CREATE INDEX issues_by_due_date ON issues USING btree (project_id, due_date, id) WHERE due_date IS NOT NULL;
CREATE INDEX issues_by_duplicated ON issues USING btree (duplicated_to_id) WHERE duplicated_to_id IS NOT NULL;
CREATE INDEX issues_by_health ON issues USING btree (project_id, health_status) WHERE health_status IS NOT NULL;
CREATE INDEX issues_by_id ON issues USING btree (project_id, id);
CREATE INDEX issues_by_iteration ON issues USING btree (iteration_id) WHERE iteration_id IS NOT NULL;
CREATE INDEX issues_by_label_priority ON issues USING btree (project_id, label_priority, id) WHERE label_priority IS NOT NULL;
CREATE INDEX issues_by_label_priority_first ON issues USING btree (project_id, label_priority, id DESC) WHERE label_priority IS NOT NULL;
CREATE INDEX issues_by_milestone ON issues USING btree (milestone_id) WHERE milestone_id IS NOT NULL;
CREATE INDEX issues_by_milestone_due ON issues USING btree (project_id, milestone_due_date, label_priority, id DESC) WHERE milestone_due_date IS NOT NULL;
CREATE INDEX issues_by_milestone_due_first ON issues USING btree (project_id, milestone_due_date, id DESC) WHERE milestone_due_date IS NOT NULL;
CREATE INDEX issues_by_milestone_due_last ON issues USING btree (project_id, milestone_due_date, id) WHERE milestone_due_date IS NOT NULL;
CREATE INDEX issues_by_moved ON issues USING btree (moved_to_id) WHERE moved_to_id IS NOT NULL;
CREATE INDEX issues_by_position ON issues USING btree (project_id, relative_position, id) WHERE relative_position IS NOT NULL;
CREATE INDEX issues_by_priority ON issues USING btree (project_id, milestone_due_date DESC, label_priority DESC NULLS LAST, id DESC) WHERE milestone_due_date IS NOT NULL;
CREATE INDEX issues_by_title ON issues USING btree (project_id, lower(title), id);
CREATE INDEX issues_by_type ON issues USING btree (project_id, issue_type) WHERE issue_type <> 'issue'::text;
CREATE INDEX issues_by_update ON issues USING btree (project_id, updated_at, id);
CREATE INDEX issues_by_votes ON issues USING btree (project_id, upvotes, id) WHERE upvotes > 0;
CREATE INDEX issues_by_weight ON issues USING btree (project_id, weight, id) WHERE weight IS NOT NULL;
CREATE INDEX issues_by_weight_first ON issues USING btree (project_id, weight, id DESC) WHERE weight IS NOT NULL;
CREATE INDEX issues_in_order ON issues USING btree (project_id, created_at, id);
CREATE INDEX issues_latest ON issues USING btree (updated_at, id);
CREATE INDEX issues_newest ON issues USING btree (created_at, id);
CREATE INDEX issues_open ON issues USING btree (project_id, confidential) WHERE state = 'opened'::text;
CREATE INDEX issues_search ON issues USING gin (project_id, title gin_trgm_ops, description gin_trgm_ops) WITH (gin_pending_list_limit='2048');
CREATE INDEX issues_that_are_due ON issues USING btree (due_date) WHERE state = 'opened'::text AND due_date IS NOT NULL;
CREATE INDEX issues_without_place ON issues USING btree (project_id, id) WHERE relative_position IS NULL;
CREATE STATISTICS public.issues_by_project_and_milestone (dependencies) ON project_id, milestone_id FROM issues;
comment on table issues is 'Issues, incidents, tasks and the other issue types of projects.';
comment on column issues.relative_position is 'The position in a list that is sorted by hand; null until then.';
comment on column issues.task_count is 'Task list items of the description, counted when it is written.';
comment on column issues.milestone_due_date is 'A copy of the due date of the milestone, which lists sort by. Triggers keep it.';
comment on column issues.label_priority is 'The best priority of the labels, which lists sort by. Triggers keep it.';

create table iteration_cadences (
  id bigint generated always as identity not null,
  group_id bigint not null,
  title text not null,
  description text,
  active boolean default true not null,
  automatic boolean default true not null,
  start_date date,
  duration_in_weeks integer,
  iterations_in_advance integer,
  roll_over boolean default false not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint iteration_cadences_pkey PRIMARY KEY (id),
  constraint iteration_cadences_duration_in_weeks_check CHECK (duration_in_weeks >= 1 AND duration_in_weeks <= 4),
  constraint iteration_cadences_iterations_in_advance_check CHECK (iterations_in_advance >= 1 AND iterations_in_advance <= 10)
);
CREATE INDEX iteration_cadences_by_group ON iteration_cadences USING btree (group_id, id);
comment on table iteration_cadences is 'Cadences of iterations in groups.';
comment on column iteration_cadences.roll_over is 'Whether open issues move on when their iteration ends.';

create table iterations (
  id bigint generated always as identity not null,
  cadence_id bigint not null,
  group_id bigint not null,
  iid integer not null,
  sequence integer not null,
  title text,
  description text,
  state integer default 1 not null,
  start_date date not null,
  due_date date not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint iterations_pkey PRIMARY KEY (id),
  constraint iterations_iid_key UNIQUE (group_id, iid),
  constraint iterations_end_after_their_start CHECK (due_date >= start_date),
  constraint iterations_state_check CHECK (state >= 1 AND state <= 3),
  constraint iterations_do_not_overlap EXCLUDE USING gist (cadence_id WITH =, daterange(start_date, due_date, '[]'::text) WITH &&) DEFERRABLE
);
CREATE INDEX iterations_by_cadence ON iterations USING btree (cadence_id, sequence);
CREATE INDEX iterations_in_order ON iterations USING btree (group_id, start_date, id);
CREATE INDEX iterations_unfinished ON iterations USING btree (due_date) WHERE state < 3;
comment on table iterations is 'Iterations of a cadence.';
comment on column iterations.sequence is 'The position in the cadence, from 1.';
comment on column iterations.title is 'Null for iterations that the cadence makes.';

create unlogged table job_totals (
  id smallint default 1 not null,
  processed bigint default 0 not null,
  failed bigint default 0 not null,
  constraint job_totals_pkey PRIMARY KEY (id),
  constraint job_totals_id_check CHECK (id = 1)
);
comment on table job_totals is 'Jobs that have ended, since the server exists.';
comment on column job_totals.processed is 'Failed ones included.';

create unlogged table job_workers (
  name text not null,
  hostname text not null,
  pid integer not null,
  started_at timestamp with time zone default now() not null,
  concurrency integer not null,
  jobs text[] not null,
  constraint job_workers_pkey PRIMARY KEY (name)
);
comment on table job_workers is 'Processes that run jobs. Not logged: workers announce themselves again.';

create table keys (
  id bigint generated always as identity not null,
  user_id bigint,
  title text not null,
  key text not null,
  fingerprint_sha256 text not null,
  usage_type text default 'auth_and_signing'::text not null,
  expires_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  last_used_at timestamp with time zone,
  created_by_id bigint,
  constraint keys_pkey PRIMARY KEY (id),
  constraint keys_fingerprint_sha256_key UNIQUE (fingerprint_sha256),
  constraint keys_usage_type_check CHECK (usage_type = ANY (ARRAY['auth'::text, 'signing'::text, 'auth_and_signing'::text]))
);
CREATE INDEX keys_by_creator ON keys USING btree (created_by_id) WHERE created_by_id IS NOT NULL;
CREATE INDEX keys_by_md5 ON keys USING btree (md5_of_key(key));
CREATE INDEX keys_by_user ON keys USING btree (user_id, id);
comment on table keys is 'Public SSH keys of users, and deploy keys.';
comment on column keys.fingerprint_sha256 is 'Of the key without its comment: Base64 of the SHA-256, as OpenSSH shows it.';
comment on column keys.last_used_at is 'Updated at most every ten minutes.';

create table label_priorities (
  project_id bigint not null,
  label_id bigint not null,
  priority integer not null,
  constraint label_priorities_pkey PRIMARY KEY (label_id, project_id),
  constraint label_priorities_priority_check CHECK (priority >= 0)
);
CREATE INDEX label_priorities_by_project ON label_priorities USING btree (project_id, priority);
comment on table label_priorities is 'Priorities of labels in a project; the lowest number comes first.';

create table labels (
  id bigint generated always as identity not null,
  project_id bigint,
  group_id bigint,
  title text not null,
  description text,
  color text not null,
  archived boolean default false not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint labels_pkey PRIMARY KEY (id),
  constraint labels_group_title_key UNIQUE (group_id, title),
  constraint labels_project_title_key UNIQUE (project_id, title),
  constraint labels_have_one_owner CHECK (num_nonnulls(project_id, group_id) = 1)
);
CREATE INDEX labels_by_title ON labels USING btree (title, id);
comment on table labels is 'Labels of projects and groups.';

create table lfs_credential_keys (
  id boolean default true not null,
  key bytea not null,
  constraint lfs_credential_keys_pkey PRIMARY KEY (id),
  constraint lfs_credential_keys_id_check CHECK (id)
);
comment on table lfs_credential_keys is 'The key that signs short-lived credentials of LFS clients: one row.';

create table lfs_locks (
  id bigint generated always as identity not null,
  project_id bigint not null,
  user_id bigint not null,
  path text not null,
  locked_at timestamp with time zone default now() not null,
  constraint lfs_locks_pkey PRIMARY KEY (id),
  constraint lfs_locks_path_key UNIQUE (project_id, path)
);
CREATE INDEX lfs_locks_by_project ON lfs_locks USING btree (project_id, id);
CREATE INDEX lfs_locks_by_user ON lfs_locks USING btree (user_id);
comment on table lfs_locks is 'Locks on paths of large files.';

create table lfs_objects (
  id bigint generated always as identity not null,
  oid text not null,
  size bigint not null,
  last_upload_at timestamp with time zone default now() not null,
  constraint lfs_objects_pkey PRIMARY KEY (id),
  constraint lfs_objects_oid_key UNIQUE (oid),
  constraint lfs_objects_oid_check CHECK (oid ~ '^[0-9a-f]{64}$'::text),
  constraint lfs_objects_size_check CHECK (size >= 0)
);
comment on table lfs_objects is 'Large files of LFS. The row is written before its blob comes, so that no blob is without a row.';

create table lfs_objects_projects (
  project_id bigint not null,
  lfs_object_id bigint not null,
  created_at timestamp with time zone default now() not null,
  constraint lfs_objects_projects_pkey PRIMARY KEY (project_id, lfs_object_id)
);
CREATE INDEX lfs_objects_projects_by_object ON lfs_objects_projects USING btree (lfs_object_id);
comment on table lfs_objects_projects is 'Projects that have a large file: each has proved by uploading it that it has the bytes.';

create table license_files (
  project_id bigint not null,
  path text not null,
  blob_id text not null,
  reader_version integer not null,
  declared jsonb not null,
  constraint license_files_pkey PRIMARY KEY (project_id, path)
);
comment on table license_files is 'Files in repositories that tell the licenses of committed packages.';
comment on column license_files.reader_version is 'The version of the code that read the file.';

create table licenses (
  id bigint generated always as identity not null,
  text text not null,
  plan text not null,
  licensee jsonb not null,
  add_ons jsonb default '{}'::jsonb not null,
  starts_at date not null,
  expires_at date,
  user_limit integer default 0 not null,
  trial boolean default false not null,
  cloud boolean default false not null,
  notify_admins_at date,
  notified_at timestamp with time zone,
  block_changes_at date,
  created_at timestamp with time zone default now() not null,
  constraint licenses_pkey PRIMARY KEY (id),
  constraint licenses_period CHECK (expires_at > starts_at),
  constraint licenses_plan_check CHECK (plan = ANY (ARRAY['starter'::text, 'premium'::text, 'ultimate'::text])),
  constraint licenses_user_limit_check CHECK (user_limit >= 0)
);
CREATE UNIQUE INDEX licenses_text_key ON licenses USING btree (md5(text));
comment on table licenses is 'Licenses of this server, written after their text was verified.';
comment on column licenses.user_limit is 'Seats; null is no limit.';
comment on column licenses.block_changes_at is 'When changes stop after the expiry; null is never.';

create table licensing (
  id integer default 1 not null,
  began_at timestamp with time zone default now() not null,
  constraint licensing_pkey PRIMARY KEY (id),
  constraint licensing_id_check CHECK (id = 1)
);
comment on table licensing is 'One row since the first license, whatever became of it: only a server that never had one issues itself one.';

create table member_approvals (
  id bigint generated always as identity not null,
  user_id bigint not null,
  group_id bigint,
  project_id bigint,
  access_level integer not null,
  member_role_id bigint,
  expires_at date,
  status text default 'pending'::text not null,
  requested_by_id bigint,
  reviewed_by_id bigint,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint member_approvals_pkey PRIMARY KEY (id),
  constraint member_approvals_access_level_check CHECK (access_level = ANY (ARRAY[5, 10, 15, 20, 30, 40, 50])),
  constraint member_approvals_one_source CHECK (num_nonnulls(group_id, project_id) = 1),
  constraint member_approvals_status_check CHECK (status = ANY (ARRAY['pending'::text, 'approved'::text, 'denied'::text]))
);
CREATE INDEX member_approvals_by_group ON member_approvals USING btree (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX member_approvals_by_project ON member_approvals USING btree (project_id) WHERE project_id IS NOT NULL;
CREATE INDEX member_approvals_by_requester ON member_approvals USING btree (requested_by_id) WHERE requested_by_id IS NOT NULL;
CREATE INDEX member_approvals_by_reviewer ON member_approvals USING btree (reviewed_by_id) WHERE reviewed_by_id IS NOT NULL;
CREATE INDEX member_approvals_by_role ON member_approvals USING btree (member_role_id) WHERE member_role_id IS NOT NULL;
CREATE INDEX member_approvals_by_status ON member_approvals USING btree (status, id);
CREATE INDEX member_approvals_by_user ON member_approvals USING btree (user_id);
CREATE UNIQUE INDEX member_approvals_group_key ON member_approvals USING btree (group_id, user_id) WHERE status = 'pending'::text AND group_id IS NOT NULL;
CREATE UNIQUE INDEX member_approvals_project_key ON member_approvals USING btree (project_id, user_id) WHERE status = 'pending'::text AND project_id IS NOT NULL;
comment on table member_approvals is 'Memberships that would need a seat and wait for an administrator.';

create table member_roles (
  id bigint generated always as identity not null,
  group_id bigint,
  name text not null,
  description text,
  base_access_level integer not null,
  admin_cicd_variables boolean default false not null,
  admin_compliance_framework boolean default false not null,
  admin_group_member boolean default false not null,
  admin_merge_request boolean default false not null,
  admin_push_rules boolean default false not null,
  admin_terraform_state boolean default false not null,
  admin_vulnerability boolean default false not null,
  admin_web_hook boolean default false not null,
  archive_project boolean default false not null,
  manage_deploy_tokens boolean default false not null,
  manage_group_access_tokens boolean default false not null,
  manage_merge_request_settings boolean default false not null,
  manage_project_access_tokens boolean default false not null,
  manage_security_policy_link boolean default false not null,
  read_code boolean default false not null,
  read_runners boolean default false not null,
  read_dependency boolean default false not null,
  read_vulnerability boolean default false not null,
  remove_group boolean default false not null,
  remove_project boolean default false not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  permissions text[] generated always as (array_remove(ARRAY[
CASE
    WHEN admin_cicd_variables THEN 'admin_cicd_variables'::text
    ELSE NULL::text
END,
CASE
    WHEN admin_compliance_framework THEN 'admin_compliance_framework'::text
    ELSE NULL::text
END,
CASE
    WHEN admin_group_member THEN 'admin_group_member'::text
    ELSE NULL::text
END,
CASE
    WHEN admin_merge_request THEN 'admin_merge_request'::text
    ELSE NULL::text
END,
CASE
    WHEN admin_push_rules THEN 'admin_push_rules'::text
    ELSE NULL::text
END,
CASE
    WHEN admin_terraform_state THEN 'admin_terraform_state'::text
    ELSE NULL::text
END,
CASE
    WHEN admin_vulnerability THEN 'admin_vulnerability'::text
    ELSE NULL::text
END,
CASE
    WHEN admin_web_hook THEN 'admin_web_hook'::text
    ELSE NULL::text
END,
CASE
    WHEN archive_project THEN 'archive_project'::text
    ELSE NULL::text
END,
CASE
    WHEN manage_deploy_tokens THEN 'manage_deploy_tokens'::text
    ELSE NULL::text
END,
CASE
    WHEN manage_group_access_tokens THEN 'manage_group_access_tokens'::text
    ELSE NULL::text
END,
CASE
    WHEN manage_merge_request_settings THEN 'manage_merge_request_settings'::text
    ELSE NULL::text
END,
CASE
    WHEN manage_project_access_tokens THEN 'manage_project_access_tokens'::text
    ELSE NULL::text
END,
CASE
    WHEN manage_security_policy_link THEN 'manage_security_policy_link'::text
    ELSE NULL::text
END,
CASE
    WHEN read_code THEN 'read_code'::text
    ELSE NULL::text
END,
CASE
    WHEN read_runners THEN 'read_runners'::text
    ELSE NULL::text
END,
CASE
    WHEN read_dependency THEN 'read_dependency'::text
    ELSE NULL::text
END,
CASE
    WHEN read_vulnerability THEN 'read_vulnerability'::text
    ELSE NULL::text
END,
CASE
    WHEN remove_group THEN 'remove_group'::text
    ELSE NULL::text
END,
CASE
    WHEN remove_project THEN 'remove_project'::text
    ELSE NULL::text
END], NULL::text)) stored not null,
  constraint member_roles_pkey PRIMARY KEY (id),
  constraint member_roles_level_key UNIQUE (id, base_access_level),
  constraint member_roles_name_key UNIQUE NULLS NOT DISTINCT (group_id, name),
  constraint member_roles_base_access_level_check CHECK (base_access_level = ANY (ARRAY[10, 15, 20, 30, 40, 50])),
  constraint member_roles_some_permission CHECK (permissions <> '{}'::text[])
);
CREATE INDEX member_roles_of_instance ON member_roles USING btree (name, id) WHERE group_id IS NULL;
comment on table member_roles is 'Custom roles, which add permissions to a level: of a top-level group or, without a group, of the instance.';
comment on column member_roles.permissions is 'The names of the permissions that are true.';

create table members (
  id bigint generated always as identity not null,
  user_id bigint not null,
  group_id bigint,
  project_id bigint,
  access_level integer not null,
  expires_at date,
  created_by_id bigint,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  member_role_id bigint,
  constraint members_pkey PRIMARY KEY (id),
  constraint members_group_key UNIQUE (group_id, user_id),
  constraint members_project_key UNIQUE (project_id, user_id),
  constraint members_access_level_check CHECK (access_level = ANY (ARRAY[5, 10, 15, 20, 30, 40, 50])),
  constraint members_minimal_in_groups CHECK (access_level >= 10 OR project_id IS NULL),
  constraint members_one_source CHECK (num_nonnulls(group_id, project_id) = 1)
);
CREATE INDEX members_by_creator ON members USING btree (created_by_id) WHERE created_by_id IS NOT NULL;
CREATE INDEX members_by_role ON members USING btree (member_role_id) WHERE member_role_id IS NOT NULL;
CREATE INDEX members_by_user ON members USING btree (user_id, group_id, project_id);
CREATE INDEX members_expiring ON members USING btree (expires_at) WHERE expires_at IS NOT NULL;
comment on table members is 'Direct members of groups and projects.';
comment on column members.expires_at is 'From 00:00 UTC of this day on, the membership does not count.';

create table merge_request_approvals (
  merge_request_id bigint not null,
  user_id bigint not null,
  created_at timestamp with time zone default now() not null,
  constraint merge_request_approvals_pkey PRIMARY KEY (merge_request_id, user_id)
);
CREATE INDEX merge_request_approvals_by_user ON merge_request_approvals USING btree (user_id, merge_request_id);
comment on table merge_request_approvals is 'Approvals of merge requests.';

create table merge_request_assignees (
  merge_request_id bigint not null,
  user_id bigint not null,
  constraint merge_request_assignees_pkey PRIMARY KEY (merge_request_id, user_id)
);
CREATE INDEX merge_request_assignees_by_user ON merge_request_assignees USING btree (user_id, merge_request_id);
comment on table merge_request_assignees is 'Assignees of merge requests.';

create table merge_request_blocks (
  id bigint generated always as identity not null,
  blocking_id bigint not null,
  blocked_id bigint not null,
  created_at timestamp with time zone default now() not null,
  constraint merge_request_blocks_pkey PRIMARY KEY (id),
  constraint merge_request_blocks_blocked_id_blocking_id_key UNIQUE (blocked_id, blocking_id),
  constraint merge_request_blocks_check CHECK (blocking_id <> blocked_id)
);
CREATE INDEX merge_request_blocks_by_blocking ON merge_request_blocks USING btree (blocking_id, id);
comment on table merge_request_blocks is 'Merge requests that must be merged before others.';

create table merge_request_closed_issues (
  merge_request_id bigint not null,
  issue_id bigint not null,
  constraint merge_request_closed_issues_pkey PRIMARY KEY (merge_request_id, issue_id)
);
CREATE INDEX merge_request_closed_issues_by_issue ON merge_request_closed_issues USING btree (issue_id, merge_request_id);
comment on table merge_request_closed_issues is 'Issues that the description of a merge request closes.';

create table merge_request_commits (
  merge_request_id bigint not null,
  sha text not null,
  constraint merge_request_commits_pkey PRIMARY KEY (merge_request_id, sha)
);
CREATE INDEX merge_request_commits_by_commit ON merge_request_commits USING btree (sha, merge_request_id);
comment on table merge_request_commits is 'The newest 1,000 commits of the last version, by which the merge requests of a commit are found.';

create table merge_request_context_commits (
  merge_request_id bigint not null,
  sha text not null,
  constraint merge_request_context_commits_pkey PRIMARY KEY (merge_request_id, sha)
);
comment on table merge_request_context_commits is 'Commits of the target project that were added to a merge request as context.';

create table merge_request_draft_notes (
  id bigint generated always as identity not null,
  merge_request_id bigint not null,
  author_id bigint not null,
  note text not null,
  discussion_id text,
  resolve_discussion boolean default false not null,
  commit_id text,
  "position" jsonb,
  line_code text,
  constraint merge_request_draft_notes_pkey PRIMARY KEY (id),
  constraint merge_request_draft_notes_commit_id_check CHECK (commit_id ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'::text)
);
CREATE INDEX merge_request_draft_notes_by_author ON merge_request_draft_notes USING btree (author_id);
CREATE INDEX merge_request_draft_notes_in_order ON merge_request_draft_notes USING btree (merge_request_id, author_id, id);
comment on table merge_request_draft_notes is 'Draft comments, which only their authors see until they publish them.';
comment on column merge_request_draft_notes.discussion_id is 'The thread that it replies to, which may be gone when it is published.';

create table merge_request_labels (
  merge_request_id bigint not null,
  label_id bigint not null,
  constraint merge_request_labels_pkey PRIMARY KEY (merge_request_id, label_id)
);
CREATE INDEX merge_request_labels_by_label ON merge_request_labels USING btree (label_id, merge_request_id);
comment on table merge_request_labels is 'Labels of merge requests.';

create table merge_request_reviewers (
  merge_request_id bigint not null,
  user_id bigint not null,
  state text default 'unreviewed'::text not null,
  created_at timestamp with time zone default now() not null,
  constraint merge_request_reviewers_pkey PRIMARY KEY (merge_request_id, user_id),
  constraint merge_request_reviewers_state_check CHECK (state = ANY (ARRAY['unreviewed'::text, 'reviewed'::text, 'requested_changes'::text, 'approved'::text, 'unapproved'::text, 'review_started'::text]))
);
CREATE INDEX merge_request_reviewers_by_user ON merge_request_reviewers USING btree (user_id, merge_request_id);
comment on table merge_request_reviewers is 'Reviewers of merge requests, with the state of their review.';

create table merge_request_versions (
  id bigint generated always as identity not null,
  merge_request_id bigint not null,
  head_commit_sha text not null,
  base_commit_sha text,
  start_commit_sha text not null,
  state text default 'collected'::text not null,
  files_count integer,
  commits_count integer,
  patch_id_sha text,
  created_at timestamp with time zone default now() not null,
  constraint merge_request_versions_pkey PRIMARY KEY (id),
  constraint merge_request_versions_state_check CHECK (state = ANY (ARRAY['collected'::text, 'overflow'::text, 'without_files'::text]))
);
CREATE INDEX merge_request_versions_in_order ON merge_request_versions USING btree (merge_request_id, id);
comment on table merge_request_versions is 'The states of the source branch that were seen, oldest first.';
comment on column merge_request_versions.base_commit_sha is 'The merge base; null when the histories have nothing in common.';

create table merge_requests (
  id bigint generated always as identity not null,
  project_id bigint not null,
  iid integer not null,
  source_project_id bigint,
  source_branch text not null,
  target_branch text not null,
  title text not null,
  description text,
  author_id bigint,
  state text default 'opened'::text not null,
  draft boolean generated always as ((title ~* '^\s*(draft:|\[draft\]|\(draft\))'::text)) stored not null,
  discussion_locked boolean,
  milestone_id bigint,
  head_commit_id text,
  merge_status text default 'unchecked'::text not null,
  merge_error text,
  merge_commit_sha text,
  squash_commit_sha text,
  merge_user_id bigint,
  merged_at timestamp with time zone,
  closed_by_id bigint,
  closed_at timestamp with time zone,
  merge_after timestamp with time zone,
  prepared_at timestamp with time zone default now(),
  squash boolean default false not null,
  force_remove_source_branch boolean,
  should_remove_source_branch boolean,
  allow_collaboration boolean default false not null,
  auto_merge_user_id bigint,
  auto_merge_parameters jsonb,
  rebase_started_at timestamp with time zone,
  time_estimate_s integer default 0 not null,
  total_time_spent_s integer default 0 not null,
  imported_from text default 'none'::text not null,
  task_count integer default 0 not null,
  completed_task_count integer default 0 not null,
  user_notes_count integer default 0 not null,
  upvotes integer default 0 not null,
  downvotes integer default 0 not null,
  milestone_due_date date,
  label_priority integer,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  latest_version_id bigint,
  checked_source_sha text,
  checked_target_sha text,
  source_branch_gone boolean default false not null,
  merge_unconcluded boolean default false not null,
  first_deployed_to_production_at timestamp with time zone,
  constraint merge_requests_pkey PRIMARY KEY (id),
  constraint merge_requests_iid_key UNIQUE (project_id, iid),
  constraint merge_requests_head_commit_id_check CHECK (head_commit_id ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'::text),
  constraint merge_requests_merge_status_check CHECK (merge_status = ANY (ARRAY['unchecked'::text, 'checking'::text, 'can_be_merged'::text, 'cannot_be_merged'::text, 'cannot_be_merged_recheck'::text])),
  constraint merge_requests_state_check CHECK (state = ANY (ARRAY['opened'::text, 'closed'::text, 'merged'::text, 'locked'::text]))
);
CREATE INDEX merge_requests_by_author ON merge_requests USING btree (author_id, created_at, id);
CREATE INDEX merge_requests_by_auto_merger ON merge_requests USING btree (auto_merge_user_id) WHERE auto_merge_user_id IS NOT NULL;
CREATE INDEX merge_requests_by_closer ON merge_requests USING btree (closed_by_id) WHERE closed_by_id IS NOT NULL;
CREATE INDEX merge_requests_by_id ON merge_requests USING btree (project_id, id);
CREATE INDEX merge_requests_by_label_priority ON merge_requests USING btree (project_id, label_priority, id) WHERE label_priority IS NOT NULL;
CREATE INDEX merge_requests_by_label_priority_first ON merge_requests USING btree (project_id, label_priority, id DESC) WHERE label_priority IS NOT NULL;
CREATE INDEX merge_requests_by_latest_version ON merge_requests USING btree (latest_version_id) WHERE latest_version_id IS NOT NULL;
CREATE INDEX merge_requests_by_merge ON merge_requests USING btree (project_id, merged_at, id) WHERE merged_at IS NOT NULL;
CREATE INDEX merge_requests_by_merge_commit ON merge_requests USING btree (project_id, merge_commit_sha) WHERE merge_commit_sha IS NOT NULL;
CREATE INDEX merge_requests_by_merger ON merge_requests USING btree (merge_user_id) WHERE merge_user_id IS NOT NULL;
CREATE INDEX merge_requests_by_milestone ON merge_requests USING btree (milestone_id) WHERE milestone_id IS NOT NULL;
CREATE INDEX merge_requests_by_milestone_due ON merge_requests USING btree (project_id, milestone_due_date, label_priority, id DESC) WHERE milestone_due_date IS NOT NULL;
CREATE INDEX merge_requests_by_source ON merge_requests USING btree (source_project_id, source_branch, id) WHERE source_project_id IS NOT NULL;
CREATE INDEX merge_requests_by_source_branch ON merge_requests USING btree (project_id, source_branch, id);
CREATE INDEX merge_requests_by_squash_commit ON merge_requests USING btree (project_id, squash_commit_sha) WHERE squash_commit_sha IS NOT NULL;
CREATE INDEX merge_requests_by_target ON merge_requests USING btree (project_id, target_branch, id);
CREATE INDEX merge_requests_by_title ON merge_requests USING btree (project_id, lower(title), id);
CREATE INDEX merge_requests_by_update ON merge_requests USING btree (project_id, updated_at, id);
CREATE INDEX merge_requests_by_votes ON merge_requests USING btree (project_id, upvotes, id) WHERE upvotes > 0;
CREATE INDEX merge_requests_drafts ON merge_requests USING btree (project_id, created_at, id) WHERE draft;
CREATE INDEX merge_requests_in_order ON merge_requests USING btree (project_id, created_at, id) INCLUDE (state, author_id);
CREATE INDEX merge_requests_latest ON merge_requests USING btree (updated_at, id);
CREATE INDEX merge_requests_newest ON merge_requests USING btree (created_at, id);
CREATE UNIQUE INDEX merge_requests_one_open ON merge_requests USING btree (source_project_id, source_branch, project_id, target_branch) WHERE state = ANY (ARRAY['opened'::text, 'locked'::text]);
CREATE INDEX merge_requests_open_into ON merge_requests USING btree (project_id, target_branch, id) WHERE state = ANY (ARRAY['opened'::text, 'locked'::text]);
CREATE INDEX merge_requests_orphaned ON merge_requests USING btree (id) WHERE state = 'opened'::text AND source_project_id IS NULL;
CREATE INDEX merge_requests_search ON merge_requests USING gin (project_id, title gin_trgm_ops, description gin_trgm_ops) WITH (gin_pending_list_limit='2048');
CREATE INDEX merge_requests_with_auto_merge ON merge_requests USING btree (head_commit_id) WHERE auto_merge_user_id IS NOT NULL;
comment on table merge_requests is 'Merge requests. The project is the target: it numbers them and decides who reads them.';
comment on column merge_requests.head_commit_id is 'The head of the source branch when it was last read.';
comment on column merge_requests.checked_source_sha is 'The head of the source branch for which merge_status was computed.';
comment on column merge_requests.checked_target_sha is 'The head of the target branch for which merge_status was computed.';
comment on column merge_requests.force_remove_source_branch is 'What the author chose; should_remove_source_branch is what was asked for at the merge.';
comment on column merge_requests.merge_unconcluded is 'Merged in the repository, but the effects are not written yet.';
comment on column merge_requests.auto_merge_user_id is 'Who asked to merge it as soon as it can be.';
comment on column merge_requests.rebase_started_at is 'Since when a rebase is under way.';
comment on column merge_requests.milestone_due_date is 'A copy of the due date of the milestone, which lists sort by. Triggers keep it.';
comment on column merge_requests.label_priority is 'The best priority of the labels, which lists sort by. Triggers keep it.';

create table milestones (
  id bigint generated always as identity not null,
  project_id bigint,
  group_id bigint,
  iid integer not null,
  title text not null,
  description text,
  state text default 'active'::text not null,
  start_date date,
  due_date date,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint milestones_pkey PRIMARY KEY (id),
  constraint milestones_group_iid_key UNIQUE (group_id, iid),
  constraint milestones_group_title_key UNIQUE (group_id, title),
  constraint milestones_project_iid_key UNIQUE (project_id, iid),
  constraint milestones_project_title_key UNIQUE (project_id, title),
  constraint milestones_have_one_owner CHECK (num_nonnulls(project_id, group_id) = 1),
  constraint milestones_state_check CHECK (state = ANY (ARRAY['active'::text, 'closed'::text]))
);
CREATE INDEX milestones_by_title ON milestones USING btree (title);
CREATE INDEX milestones_of_group_in_order ON milestones USING btree (group_id, due_date, id);
CREATE INDEX milestones_of_project_in_order ON milestones USING btree (project_id, due_date, id);
CREATE INDEX milestones_search ON milestones USING gin (title gin_trgm_ops, description gin_trgm_ops);
comment on table milestones is 'Milestones of projects and groups.';

create table namespaces (
  id bigint generated always as identity not null,
  kind text not null,
  name text not null,
  path citext not null,
  full_path citext not null,
  traversal_ids bigint[] not null,
  parent_id bigint,
  owner_id bigint,
  description text default ''::text not null,
  visibility text default 'private'::text not null,
  project_creation_level text default 'developer'::text not null,
  subgroup_creation_level text default 'maintainer'::text not null,
  default_branch text,
  default_branch_protection integer default 2 not null,
  membership_lock boolean default false not null,
  share_with_group_lock boolean default false not null,
  request_access_enabled boolean default true not null,
  lfs_enabled boolean default true not null,
  emails_enabled boolean default true not null,
  mentions_disabled boolean,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  archived boolean default false not null,
  marked_for_deletion_at timestamp with time zone,
  avatar text,
  avatar_key text,
  repository_storage text default 'default'::text not null,
  wiki_access_level text default 'enabled'::text not null,
  constraint namespaces_pkey PRIMARY KEY (id),
  constraint namespaces_full_path_key UNIQUE (full_path),
  constraint namespaces_owner_id_key UNIQUE (owner_id),
  constraint namespaces_check CHECK ((avatar IS NULL) = (avatar_key IS NULL)),
  constraint namespaces_default_branch_protection_check CHECK (default_branch_protection >= 0 AND default_branch_protection <= 4),
  constraint namespaces_kind_check CHECK (kind = ANY (ARRAY['user'::text, 'group'::text])),
  constraint namespaces_project_creation_level_check CHECK (project_creation_level = ANY (ARRAY['noone'::text, 'owner'::text, 'maintainer'::text, 'developer'::text, 'administrator'::text])),
  constraint namespaces_subgroup_creation_level_check CHECK (subgroup_creation_level = ANY (ARRAY['owner'::text, 'maintainer'::text])),
  constraint namespaces_user_has_owner CHECK ((kind = 'user'::text) = (owner_id IS NOT NULL)),
  constraint namespaces_visibility_check CHECK (visibility = ANY (ARRAY['private'::text, 'internal'::text, 'public'::text])),
  constraint namespaces_wiki_access_level_check CHECK (wiki_access_level = ANY (ARRAY['disabled'::text, 'private'::text, 'enabled'::text]))
);
CREATE INDEX namespaces_archived ON namespaces USING btree (id) WHERE archived;
CREATE INDEX namespaces_by_ancestor ON namespaces USING gin (traversal_ids);
CREATE INDEX namespaces_by_avatar ON namespaces USING btree (avatar_key) WHERE avatar_key IS NOT NULL;
CREATE INDEX namespaces_by_parent ON namespaces USING btree (parent_id, name, id);
CREATE INDEX namespaces_in_order ON namespaces USING btree (name, id) WHERE kind = 'group'::text;
CREATE INDEX namespaces_marked_for_deletion ON namespaces USING btree (marked_for_deletion_at) WHERE marked_for_deletion_at IS NOT NULL;
CREATE UNIQUE INDEX namespaces_name_key ON namespaces USING btree (parent_id, name) WHERE parent_id IS NOT NULL;
CREATE INDEX namespaces_search ON namespaces USING gin (name gin_trgm_ops, (full_path::text) gin_trgm_ops);
comment on table namespaces is 'Groups, and the personal namespaces of users. Projects have no row here.';
comment on column namespaces.traversal_ids is 'The ids from the top-level namespace down to this one.';
comment on column namespaces.marked_for_deletion_at is 'A job removes the group some days later.';
comment on column namespaces.repository_storage is 'The git storage of repositories that the group itself has, such as its wiki.';

create table notes (
  id bigint generated always as identity not null,
  issue_id bigint,
  epic_id bigint,
  discussion_id text default replace(((gen_random_uuid())::text || "left"((gen_random_uuid())::text, 8)), '-'::text, ''::text) not null,
  starts_discussion boolean default true not null,
  type text,
  body text not null,
  author_id bigint,
  system boolean default false not null,
  internal boolean default false not null,
  refers_to_issue_id bigint,
  refers_to_epic_id bigint,
  is_mention boolean default false not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  project_id bigint,
  commit_id text,
  "position" jsonb,
  refers_to_project_id bigint,
  refers_to_commit_id text,
  snippet_id bigint,
  merge_request_id bigint,
  refers_to_merge_request_id bigint,
  resolved_at timestamp with time zone,
  resolved_by_id bigint,
  original_position jsonb,
  diff_commit_id text,
  outdated boolean default false not null,
  imported_from text default 'none'::text not null,
  constraint notes_pkey PRIMARY KEY (id),
  constraint notes_commit_id_check CHECK (commit_id ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'::text),
  constraint notes_diff_commit_id_check CHECK (diff_commit_id ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'::text),
  constraint notes_have_one_noteable CHECK (num_nonnulls(issue_id, epic_id, merge_request_id, commit_id, snippet_id) = 1),
  constraint notes_name_whole_commits CHECK (num_nonnulls(project_id, commit_id) <> 1),
  constraint notes_on_diffs_have_positions CHECK ((NOT type IS DISTINCT FROM 'DiffNote'::text) = ("position" IS NOT NULL)),
  constraint notes_refer_to_whole_commits CHECK (num_nonnulls(refers_to_project_id, refers_to_commit_id) <> 1),
  constraint notes_resolved_by_someone_at_some_time CHECK (resolved_by_id IS NULL OR resolved_at IS NOT NULL),
  constraint notes_resolved_in_threads CHECK (resolved_at IS NULL OR merge_request_id IS NOT NULL AND type IS NOT NULL AND NOT system),
  constraint notes_type_check CHECK (type = ANY (ARRAY['DiscussionNote'::text, 'DiffNote'::text]))
);
CREATE INDEX notes_by_author ON notes USING btree (author_id, id);
CREATE INDEX notes_by_discussion ON notes USING btree (discussion_id, created_at, id);
CREATE INDEX notes_by_resolver ON notes USING btree (resolved_by_id) WHERE resolved_by_id IS NOT NULL;
CREATE INDEX notes_internal_on_issue ON notes USING btree (issue_id) WHERE issue_id IS NOT NULL AND internal AND NOT system;
CREATE INDEX notes_internal_on_merge_request ON notes USING btree (merge_request_id) WHERE merge_request_id IS NOT NULL AND internal AND NOT system;
CREATE INDEX notes_of_commit ON notes USING btree (project_id, commit_id, created_at, id) WHERE project_id IS NOT NULL;
CREATE INDEX notes_of_epic ON notes USING btree (epic_id, created_at, id) WHERE epic_id IS NOT NULL;
CREATE INDEX notes_of_issue ON notes USING btree (issue_id, created_at, id) WHERE issue_id IS NOT NULL;
CREATE INDEX notes_of_merge_request ON notes USING btree (merge_request_id, created_at, id) WHERE merge_request_id IS NOT NULL;
CREATE INDEX notes_of_snippet ON notes USING btree (snippet_id, created_at, id) WHERE snippet_id IS NOT NULL;
CREATE UNIQUE INDEX notes_one_mention ON notes USING btree (issue_id, epic_id, merge_request_id, refers_to_issue_id, refers_to_epic_id, refers_to_merge_request_id, refers_to_project_id, refers_to_commit_id) NULLS NOT DISTINCT WHERE is_mention;
CREATE UNIQUE INDEX notes_one_start ON notes USING btree (discussion_id) WHERE starts_discussion;
CREATE INDEX notes_open_on_merge_request ON notes USING btree (merge_request_id) WHERE merge_request_id IS NOT NULL AND type IS NOT NULL AND NOT system AND resolved_at IS NULL;
CREATE INDEX notes_referring_to_commit ON notes USING btree (refers_to_project_id) WHERE refers_to_project_id IS NOT NULL;
CREATE INDEX notes_referring_to_epic ON notes USING btree (refers_to_epic_id) WHERE refers_to_epic_id IS NOT NULL;
CREATE INDEX notes_referring_to_issue ON notes USING btree (refers_to_issue_id) WHERE refers_to_issue_id IS NOT NULL;
CREATE INDEX notes_referring_to_merge_request ON notes USING btree (refers_to_merge_request_id) WHERE refers_to_merge_request_id IS NOT NULL;
CREATE INDEX notes_search ON notes USING gin (body gin_trgm_ops) WITH (gin_pending_list_limit='2048') WHERE NOT system;
CREATE INDEX notes_starting_on_commit ON notes USING btree (project_id, commit_id, created_at, id) WHERE project_id IS NOT NULL AND starts_discussion;
CREATE INDEX notes_starting_on_epic ON notes USING btree (epic_id, created_at, id) WHERE epic_id IS NOT NULL AND starts_discussion;
CREATE INDEX notes_starting_on_issue ON notes USING btree (issue_id, created_at, id) WHERE issue_id IS NOT NULL AND starts_discussion;
CREATE INDEX notes_starting_on_merge_request ON notes USING btree (merge_request_id, created_at, id) WHERE merge_request_id IS NOT NULL AND starts_discussion;
CREATE INDEX notes_starting_on_snippet ON notes USING btree (snippet_id, created_at, id) WHERE snippet_id IS NOT NULL AND starts_discussion;
comment on table notes is 'Comments and system notes on issues, epics, merge requests, snippets and commits. Notes of one thread share a discussion_id.';
comment on column notes.discussion_id is '40 hexadecimal digits.';
comment on column notes.starts_discussion is 'Whether it is the first note of its thread.';
comment on column notes.refers_to_issue_id is 'An issue that the body refers to: who may not read it must not read the note. The other refers_to columns work in the same way.';
comment on column notes.is_mention is 'Whether it says that the noteable was mentioned elsewhere, which is said once per place.';
comment on column notes.position is 'The place in a diff; replies have the position of their thread. It follows the code.';
comment on column notes.original_position is 'The position that the note was given.';
comment on column notes.diff_commit_id is 'The commit of a merge request whose own diff the position is in; null for the diff of a version.';
comment on column notes.outdated is 'Whether a later version of the code no longer has the place.';
comment on column notes.resolved_by_id is 'Null when the user is gone, and for threads that a change of the code resolved.';

create table notification_counts (
  user_id bigint not null,
  project_id bigint,
  group_id bigint,
  began_at timestamp with time zone default now() not null,
  messages integer default 1 not null,
  constraint notification_counts_key UNIQUE NULLS NOT DISTINCT (user_id, project_id, group_id),
  constraint notification_counts_have_one_place CHECK (num_nonnulls(project_id, group_id) = 1)
);
CREATE INDEX notification_counts_by_age ON notification_counts USING btree (began_at);
CREATE INDEX notification_counts_of_group ON notification_counts USING btree (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX notification_counts_of_project ON notification_counts USING btree (project_id) WHERE project_id IS NOT NULL;
alter table notification_counts replica identity full;
comment on table notification_counts is 'Mails about a project or group that a user got within a day.';

create table notification_recipients (
  notification_id uuid not null,
  user_id bigint not null,
  reason text,
  created_at timestamp with time zone default now() not null,
  constraint notification_recipients_pkey PRIMARY KEY (notification_id, user_id)
);
CREATE INDEX notification_recipients_by_age ON notification_recipients USING btree (created_at);
CREATE INDEX notification_recipients_of_user ON notification_recipients USING btree (user_id);
comment on table notification_recipients is 'Users a notification is still to be sent to. The job has the id of the notification, whose row is gone by then.';

create table notification_settings (
  id bigint generated always as identity not null,
  user_id bigint not null,
  group_id bigint,
  project_id bigint,
  level text not null,
  events text[] not null,
  email_id bigint,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint notification_settings_pkey PRIMARY KEY (id),
  constraint notification_settings_key UNIQUE NULLS NOT DISTINCT (user_id, group_id, project_id),
  constraint notification_settings_email_is_not_of_project CHECK (email_id IS NULL OR project_id IS NULL),
  constraint notification_settings_end_somewhere CHECK (level <> 'global'::text OR num_nonnulls(group_id, project_id) = 1),
  constraint notification_settings_have_one_scope CHECK (num_nonnulls(group_id, project_id) <= 1),
  constraint notification_settings_level_check CHECK (level = ANY (ARRAY['disabled'::text, 'participating'::text, 'watch'::text, 'global'::text, 'mention'::text, 'custom'::text]))
);
CREATE INDEX notification_settings_by_email ON notification_settings USING btree (email_id) WHERE email_id IS NOT NULL;
CREATE INDEX notification_settings_of_group ON notification_settings USING btree (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX notification_settings_of_project ON notification_settings USING btree (project_id) WHERE project_id IS NOT NULL;
comment on table notification_settings is 'What a user is notified of: everywhere, in a group or in a project.';
comment on column notification_settings.events is 'Events that count at the level `custom`.';
comment on column notification_settings.email_id is 'Where the mail goes; null is the primary address.';

create table notifications (
  id uuid default gen_random_uuid() not null,
  event text not null,
  target_type text not null,
  target_id bigint not null,
  actor_id bigint,
  user_ids bigint[] default '{}'::bigint[] not null,
  created_at timestamp with time zone default now() not null,
  is_alone boolean default false not null,
  constraint notifications_pkey PRIMARY KEY (id)
);
CREATE INDEX notifications_waiting ON notifications USING btree (created_at, id) WHERE NOT is_alone;
comment on table notifications is 'Changes that users are to be told of by mail. A job replaces the row by a job for each recipient.';
comment on column notifications.target_type is 'The kind of the target. There is no foreign key: the job finds nothing when the target is gone.';
comment on column notifications.is_alone is 'Whether it has a job of its own, because it failed together with others.';

create table oauth_tokens (
  id bigint default nextval((pg_get_serial_sequence('personal_access_tokens'::text, 'id'::text))::regclass) not null,
  user_id bigint not null,
  token_digest bytea not null,
  refresh_digest bytea not null,
  scopes text[] not null,
  revoked boolean default false not null,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  constraint oauth_tokens_pkey PRIMARY KEY (id),
  constraint oauth_tokens_refresh_digest_key UNIQUE (refresh_digest),
  constraint oauth_tokens_token_digest_key UNIQUE (token_digest)
);
CREATE INDEX oauth_tokens_by_time ON oauth_tokens USING btree (created_at);
CREATE INDEX oauth_tokens_by_user ON oauth_tokens USING btree (user_id);
comment on table oauth_tokens is 'OAuth access tokens that users got for their password, with their refresh tokens.';

create table open_issue_counts (
  id bigint generated always as identity not null,
  project_id bigint not null,
  opened integer not null,
  confidential integer not null,
  is_sum boolean default false not null,
  constraint open_issue_counts_pkey PRIMARY KEY (id)
);
CREATE INDEX open_issue_counts_by_project ON open_issue_counts USING btree (project_id) INCLUDE (opened, confidential);
CREATE INDEX open_issue_counts_to_add_up ON open_issue_counts USING btree (project_id) WHERE NOT is_sum;
comment on table open_issue_counts is 'Changes of the number of open issues of a project, which are added up. Adding a row waits for no other transaction; a job replaces the rows by their sum.';
comment on column open_issue_counts.confidential is 'How many of the issues are confidential.';
comment on column open_issue_counts.is_sum is 'Whether the row is a sum.';

create table package_advisories (
  package_version_id bigint not null,
  advisory_id bigint not null,
  constraint package_advisories_pkey PRIMARY KEY (package_version_id, advisory_id)
);
CREATE INDEX package_advisories_advisory_id_idx ON package_advisories USING btree (advisory_id);
comment on table package_advisories is 'Advisories that affect a version of a package.';

create table package_versions (
  id bigint generated always as identity not null,
  ecosystem text not null,
  advised_name text not null,
  version text not null,
  created_at timestamp with time zone default now() not null,
  is_matched boolean default false not null,
  constraint package_versions_pkey PRIMARY KEY (id),
  constraint package_versions_ecosystem_advised_name_version_key UNIQUE (ecosystem, advised_name, version)
);
CREATE INDEX package_versions_id_idx ON package_versions USING btree (id) WHERE NOT is_matched;
comment on table package_versions is 'Versions of packages that projects depend on, one row for all projects. Packages without any advisory are not here.';
comment on column package_versions.is_matched is 'Whether it was compared with all advisories about the package.';

create table password_links (
  id bigint generated always as identity not null,
  user_id bigint not null,
  seed uuid default gen_random_uuid() not null,
  created_at timestamp with time zone default now() not null,
  constraint password_links_pkey PRIMARY KEY (id),
  constraint password_links_seed_key UNIQUE (seed)
);
CREATE INDEX password_links_by_age ON password_links USING btree (created_at);
CREATE INDEX password_links_by_user ON password_links USING btree (user_id);
comment on table password_links is 'Links by which users choose a password.';
comment on column password_links.seed is 'The seed of the link. The token is not stored.';

create table personal_access_tokens (
  id bigint generated always as identity not null,
  user_id bigint not null,
  name text not null,
  description text,
  scopes text[] not null,
  token_digest bytea not null,
  revoked boolean default false not null,
  expires_at date,
  impersonation boolean default false not null,
  family_id bigint,
  last_used_at timestamp with time zone,
  last_used_ips inet[] default '{}'::inet[] not null,
  created_at timestamp with time zone default now() not null,
  constraint personal_access_tokens_pkey PRIMARY KEY (id),
  constraint personal_access_tokens_token_digest_key UNIQUE (token_digest)
);
CREATE INDEX personal_access_tokens_by_family ON personal_access_tokens USING btree (family_id) WHERE family_id IS NOT NULL;
CREATE INDEX personal_access_tokens_by_user ON personal_access_tokens USING btree (user_id, id);
comment on table personal_access_tokens is 'Access tokens of users and of bots.';
comment on column personal_access_tokens.token_digest is 'SHA-256 of the token.';
comment on column personal_access_tokens.family_id is 'The first token of a chain of rotations: using a revoked one revokes the whole family.';

create table pipelines (
  id bigint default nextval('commit_statuses_id_seq'::regclass) not null,
  iid integer not null,
  project_id bigint not null,
  sha text not null,
  ref text not null,
  tag boolean default false not null,
  status text not null,
  user_id bigint,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint pipelines_pkey PRIMARY KEY (id),
  constraint pipelines_iid_key UNIQUE (project_id, iid),
  constraint pipelines_of_commit UNIQUE (project_id, sha, ref),
  constraint pipelines_status_check CHECK (status = ANY (ARRAY['pending'::text, 'running'::text, 'success'::text, 'failed'::text, 'canceled'::text, 'skipped'::text]))
);
CREATE INDEX pipelines_by_author ON pipelines USING btree (project_id, user_id, id);
CREATE INDEX pipelines_by_ref ON pipelines USING btree (project_id, ref, id);
CREATE INDEX pipelines_by_status ON pipelines USING btree (project_id, status, id);
CREATE INDEX pipelines_by_update ON pipelines USING btree (project_id, updated_at, id);
CREATE INDEX pipelines_by_user ON pipelines USING btree (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX pipelines_in_order ON pipelines USING btree (project_id, id);
CREATE INDEX pipelines_open ON pipelines USING btree (id) WHERE status = ANY (ARRAY['pending'::text, 'running'::text]);
comment on table pipelines is 'Pipelines of external systems: the statuses of a commit and ref together.';
comment on column pipelines.status is 'Derived from the current statuses.';

create table placeholder_memberships (
  id bigint generated always as identity not null,
  user_id bigint not null,
  group_id bigint,
  project_id bigint,
  access_level integer not null,
  expires_at date,
  constraint placeholder_memberships_pkey PRIMARY KEY (id),
  constraint placeholder_memberships_group_key UNIQUE (user_id, group_id),
  constraint placeholder_memberships_project_key UNIQUE (user_id, project_id),
  constraint placeholder_memberships_access_level_check CHECK (access_level = ANY (ARRAY[5, 10, 15, 20, 30, 40, 50])),
  constraint placeholder_memberships_one_place CHECK (num_nonnulls(group_id, project_id) = 1)
);
CREATE INDEX placeholder_memberships_by_group ON placeholder_memberships USING btree (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX placeholder_memberships_by_project ON placeholder_memberships USING btree (project_id) WHERE project_id IS NOT NULL;
comment on table placeholder_memberships is 'Memberships at the source of a migration, which the account gets when it accepts the records.';

create table placeholders (
  user_id bigint not null,
  group_id bigint not null,
  source_host text not null,
  source_user_id bigint not null,
  source_username text not null,
  source_name text not null,
  assignee_id bigint,
  created_at timestamp with time zone default now() not null,
  proposed_user_id bigint,
  proposed_by_id bigint,
  constraint placeholders_pkey PRIMARY KEY (user_id),
  constraint placeholders_one_each UNIQUE (group_id, source_host, source_user_id)
);
CREATE INDEX placeholders_by_assignee ON placeholders USING btree (assignee_id) WHERE assignee_id IS NOT NULL;
CREATE INDEX placeholders_by_group ON placeholders USING btree (group_id, user_id);
CREATE INDEX placeholders_by_proposal ON placeholders USING btree (proposed_user_id, user_id) WHERE proposed_user_id IS NOT NULL;
CREATE INDEX placeholders_by_proposer ON placeholders USING btree (proposed_by_id) WHERE proposed_by_id IS NOT NULL;
comment on table placeholders is 'Accounts that stand for users of another server until somebody takes their records over.';
comment on column placeholders.group_id is 'The top-level group that the records were migrated into.';
comment on column placeholders.assignee_id is 'The account that a job gives all records to.';

create table plan_limits (
  id smallint default 1 not null,
  limits jsonb default '{}'::jsonb not null,
  constraint plan_limits_pkey PRIMARY KEY (id),
  constraint plan_limits_id_check CHECK (id = 1)
);
comment on table plan_limits is 'Limits that administrators have changed, by name. One row.';

create table project_authorizations (
  user_id bigint not null,
  project_id bigint not null,
  access_level integer not null,
  expires_at date,
  member_role_id bigint,
  constraint project_authorizations_key UNIQUE NULLS NOT DISTINCT (user_id, project_id, access_level, member_role_id) INCLUDE (expires_at)
);
CREATE INDEX project_authorizations_by_project ON project_authorizations USING btree (project_id, user_id, access_level) INCLUDE (expires_at);
CREATE INDEX project_authorizations_by_role ON project_authorizations USING btree (member_role_id) WHERE member_role_id IS NOT NULL;
alter table project_authorizations replica identity full;
comment on table project_authorizations is 'What a user may do in a project, derived as group_authorizations are.';

create table project_fetches (
  project_id bigint not null,
  date date not null,
  count bigint not null,
  constraint project_fetches_pkey PRIMARY KEY (project_id, date)
);
CREATE INDEX project_fetches_by_date ON project_fetches USING btree (date);
comment on table project_fetches is 'Clones and fetches of a project by day (UTC).';

create table project_stars (
  project_id bigint not null,
  user_id bigint not null,
  created_at timestamp with time zone default now() not null,
  constraint project_stars_pkey PRIMARY KEY (project_id, user_id)
);
CREATE INDEX project_stars_by_user ON project_stars USING btree (user_id, project_id);
comment on table project_stars is 'Users who have starred a project.';

create table projects (
  id bigint generated always as identity not null,
  namespace_id bigint not null,
  name text not null,
  path citext not null,
  full_path citext not null,
  description text,
  visibility text default 'private'::text not null,
  creator_id bigint,
  storage text default 'default'::text not null,
  default_branch text not null,
  empty_repo boolean default true not null,
  repository_object_format text default 'sha1'::text not null,
  archived boolean default false not null,
  topics text[] default '{}'::text[] not null,
  star_count integer default 0 not null,
  issues_access_level text default 'enabled'::text not null,
  repository_access_level text default 'enabled'::text not null,
  merge_requests_access_level text default 'enabled'::text not null,
  forking_access_level text default 'enabled'::text not null,
  snippets_access_level text default 'enabled'::text not null,
  environments_access_level text default 'enabled'::text not null,
  request_access_enabled boolean default true not null,
  lfs_enabled boolean default true not null,
  emails_enabled boolean default true not null,
  last_activity_at timestamp with time zone default now() not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  marked_for_deletion_at timestamp with time zone,
  forked_from_id bigint,
  import_status text default 'none'::text not null,
  import_error text,
  freeze_blocks_pushes boolean default false not null,
  avatar text,
  avatar_key text,
  refs_recorded boolean default true not null,
  enforce_auth_checks_on_uploads boolean default true not null,
  merge_method text default 'merge'::text not null,
  squash_option text default 'default_off'::text not null,
  only_allow_merge_if_pipeline_succeeds boolean default false not null,
  allow_merge_on_skipped_pipeline boolean,
  only_allow_merge_if_all_discussions_are_resolved boolean default false not null,
  remove_source_branch_after_merge boolean default true not null,
  resolve_outdated_diff_discussions boolean default false not null,
  printing_merge_request_link_enabled boolean default true not null,
  autoclose_referenced_issues boolean default true not null,
  suggestion_commit_message text,
  merge_commit_template text,
  squash_commit_template text,
  merge_requests_template text,
  reset_approvals_on_push boolean default true not null,
  disable_overriding_approvers_per_merge_request boolean default false not null,
  merge_requests_author_approval boolean default false not null,
  merge_requests_disable_committers_approval boolean default false not null,
  require_password_to_approve boolean default false not null,
  selective_code_owner_removals boolean default false not null,
  dependency_paths text[] default '{}'::text[] not null,
  wiki_access_level text default 'enabled'::text not null,
  releases_access_level text default 'enabled'::text not null,
  feature_flags_access_level text default 'enabled'::text not null,
  deployment_freeze text default 'mark'::text not null,
  issues_template text,
  public_jobs boolean default true not null,
  builds_access_level text default 'enabled'::text not null,
  readme_path text,
  constraint projects_pkey PRIMARY KEY (id),
  constraint projects_full_path_key UNIQUE (full_path),
  constraint projects_name_key UNIQUE (namespace_id, name),
  constraint projects_builds_access_level_check CHECK (builds_access_level = ANY (ARRAY['disabled'::text, 'private'::text, 'enabled'::text])),
  constraint projects_check CHECK ((avatar IS NULL) = (avatar_key IS NULL)),
  constraint projects_deployment_freeze_check CHECK (deployment_freeze = ANY (ARRAY['mark'::text, 'refuse'::text])),
  constraint projects_environments_access_level_check CHECK (environments_access_level = ANY (ARRAY['disabled'::text, 'private'::text, 'enabled'::text])),
  constraint projects_feature_flags_access_level_check CHECK (feature_flags_access_level = ANY (ARRAY['disabled'::text, 'private'::text, 'enabled'::text])),
  constraint projects_forking_access_level_check CHECK (forking_access_level = ANY (ARRAY['disabled'::text, 'private'::text, 'enabled'::text])),
  constraint projects_import_status_check CHECK (import_status = ANY (ARRAY['none'::text, 'scheduled'::text, 'started'::text, 'finished'::text, 'failed'::text])),
  constraint projects_issues_access_level_check CHECK (issues_access_level = ANY (ARRAY['disabled'::text, 'private'::text, 'enabled'::text])),
  constraint projects_merge_commit_template_check CHECK (char_length(merge_commit_template) <= 500),
  constraint projects_merge_method_check CHECK (merge_method = ANY (ARRAY['merge'::text, 'rebase_merge'::text, 'ff'::text])),
  constraint projects_merge_requests_access_level_check CHECK (merge_requests_access_level = ANY (ARRAY['disabled'::text, 'private'::text, 'enabled'::text])),
  constraint projects_releases_access_level_check CHECK (releases_access_level = ANY (ARRAY['disabled'::text, 'private'::text, 'enabled'::text])),
  constraint projects_removals_are_selective_or_complete CHECK (NOT (selective_code_owner_removals AND reset_approvals_on_push)),
  constraint projects_repository_access_level_check CHECK (repository_access_level = ANY (ARRAY['disabled'::text, 'private'::text, 'enabled'::text])),
  constraint projects_repository_object_format_check CHECK (repository_object_format = ANY (ARRAY['sha1'::text, 'sha256'::text])),
  constraint projects_snippets_access_level_check CHECK (snippets_access_level = ANY (ARRAY['disabled'::text, 'private'::text, 'enabled'::text])),
  constraint projects_squash_commit_template_check CHECK (char_length(squash_commit_template) <= 500),
  constraint projects_squash_option_check CHECK (squash_option = ANY (ARRAY['never'::text, 'always'::text, 'default_on'::text, 'default_off'::text])),
  constraint projects_suggestion_commit_message_check CHECK (char_length(suggestion_commit_message) <= 255),
  constraint projects_visibility_check CHECK (visibility = ANY (ARRAY['private'::text, 'internal'::text, 'public'::text])),
  constraint projects_wiki_access_level_check CHECK (wiki_access_level = ANY (ARRAY['disabled'::text, 'private'::text, 'enabled'::text]))
);
CREATE INDEX projects_by_activity ON projects USING btree (last_activity_at, id) INCLUDE (namespace_id, visibility, marked_for_deletion_at);
CREATE INDEX projects_by_avatar ON projects USING btree (avatar_key) WHERE avatar_key IS NOT NULL;
CREATE INDEX projects_by_creator ON projects USING btree (creator_id);
CREATE INDEX projects_by_name ON projects USING btree (name, id) INCLUDE (namespace_id, visibility, marked_for_deletion_at);
CREATE INDEX projects_by_namespace ON projects USING btree (namespace_id, id) INCLUDE (visibility, marked_for_deletion_at);
CREATE INDEX projects_by_path ON projects USING btree (path, id) INCLUDE (namespace_id, visibility, marked_for_deletion_at);
CREATE INDEX projects_by_source ON projects USING btree (forked_from_id, id) WHERE forked_from_id IS NOT NULL;
CREATE INDEX projects_by_stars ON projects USING btree (star_count, id) INCLUDE (namespace_id, visibility, marked_for_deletion_at);
CREATE INDEX projects_by_topic ON projects USING gin (topics);
CREATE INDEX projects_by_update ON projects USING btree (updated_at, id) INCLUDE (namespace_id, visibility, marked_for_deletion_at);
CREATE INDEX projects_marked_for_deletion ON projects USING btree (marked_for_deletion_at) WHERE marked_for_deletion_at IS NOT NULL;
CREATE INDEX projects_newest ON projects USING btree (id) INCLUDE (namespace_id, visibility, marked_for_deletion_at);
CREATE INDEX projects_public ON projects USING btree (id) INCLUDE (namespace_id, visibility, marked_for_deletion_at) WHERE visibility <> 'private'::text;
CREATE INDEX projects_search ON projects USING gin (name gin_trgm_ops, (path::text) gin_trgm_ops, (full_path::text) gin_trgm_ops, description gin_trgm_ops);
CREATE INDEX projects_without_known_readme ON projects USING btree (id) WHERE readme_path IS NULL AND NOT empty_repo;
comment on table projects is 'Projects.';
comment on column projects.storage is 'The git storage of the repository.';
comment on column projects.default_branch is 'The branch that HEAD of the repository points to.';
comment on column projects.readme_path is 'The README of the default branch; empty when there is none, null until it was looked for.';
comment on column projects.empty_repo is 'Whether the repository has no branch.';
comment on column projects.import_status is 'How far the copy of a fork or an import has come.';
comment on column projects.freeze_blocks_pushes is 'Whether protected branches take no changes during a freeze period.';
comment on column projects.deployment_freeze is '`mark` or `refuse`: what happens to deployments during a freeze period.';
comment on column projects.refs_recorded is 'Whether all branches and tags are in recorded_refs; a project that is older than that table has only those that moved since.';
comment on column projects.suggestion_commit_message is 'A template; null is the usual one, as for the other templates.';
comment on column projects.allow_merge_on_skipped_pipeline is 'Null until it is first set, which means false.';
comment on column projects.dependency_paths is 'Paths that are read for dependencies although they lie below a folder of foreign code or tests.';
comment on column projects.builds_access_level is 'Who may see pipelines. Statuses that other systems report are stored in any case.';
comment on column projects.public_jobs is 'Whether Guests of a private project may read its pipelines.';

create table protected_branch_access_levels (
  id bigint generated always as identity not null,
  protected_branch_id bigint not null,
  action text not null,
  access_level integer,
  user_id bigint,
  group_id bigint,
  constraint protected_branch_access_levels_pkey PRIMARY KEY (id),
  constraint protected_branch_access_levels_group_key UNIQUE (protected_branch_id, action, group_id),
  constraint protected_branch_access_levels_level_key UNIQUE (protected_branch_id, action, access_level),
  constraint protected_branch_access_levels_user_key UNIQUE (protected_branch_id, action, user_id),
  constraint protected_branch_access_levels_access_level_check CHECK (access_level = ANY (ARRAY[0, 30, 40, 60])),
  constraint protected_branch_access_levels_action_check CHECK (action = ANY (ARRAY['push'::text, 'merge'::text, 'unprotect'::text])),
  constraint protected_branch_access_levels_one_grantee CHECK (num_nonnulls(access_level, user_id, group_id) = 1)
);
CREATE INDEX protected_branch_access_levels_by_group ON protected_branch_access_levels USING btree (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX protected_branch_access_levels_by_user ON protected_branch_access_levels USING btree (user_id) WHERE user_id IS NOT NULL;
comment on table protected_branch_access_levels is 'Who may push to, merge into or unprotect a protected branch: a level (0 is nobody), a user or a group.';

create table protected_branches (
  id bigint generated always as identity not null,
  project_id bigint,
  name text not null,
  allow_force_push boolean default false not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  code_owner_approval_required boolean default false not null,
  group_id bigint,
  constraint protected_branches_pkey PRIMARY KEY (id),
  constraint protected_branches_name_key UNIQUE (project_id, name),
  constraint protected_branches_have_one_owner CHECK (num_nonnulls(project_id, group_id) = 1)
);
CREATE UNIQUE INDEX protected_branches_by_group ON protected_branches USING btree (group_id, name) WHERE group_id IS NOT NULL;
comment on table protected_branches is 'Protected branches of projects and groups, by name; `*` matches any characters.';

create table protected_environment_rules (
  id bigint generated always as identity not null,
  protected_environment_id bigint not null,
  purpose text not null,
  access_level integer,
  user_id bigint,
  group_id bigint,
  group_inheritance_type integer default 0 not null,
  required_approvals integer default 1 not null,
  constraint protected_environment_rules_pkey PRIMARY KEY (id),
  constraint protected_environment_rules_key UNIQUE NULLS NOT DISTINCT (protected_environment_id, purpose, access_level, user_id, group_id),
  constraint protected_environment_rules_access_level_check CHECK (access_level = ANY (ARRAY[30, 40, 60])),
  constraint protected_environment_rules_group_inheritance_type_check CHECK (group_inheritance_type = ANY (ARRAY[0, 1])),
  constraint protected_environment_rules_one_grantee CHECK (num_nonnulls(access_level, user_id, group_id) = 1),
  constraint protected_environment_rules_purpose_check CHECK (purpose = ANY (ARRAY['deploy'::text, 'approve'::text])),
  constraint protected_environment_rules_required_approvals_check CHECK (required_approvals >= 1 AND required_approvals <= 5)
);
CREATE INDEX protected_environment_rules_by_group ON protected_environment_rules USING btree (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX protected_environment_rules_by_user ON protected_environment_rules USING btree (user_id) WHERE user_id IS NOT NULL;
comment on table protected_environment_rules is 'Who may deploy to a protected environment, and whose approvals it needs.';
comment on column protected_environment_rules.group_inheritance_type is '0: direct members of the group only; 1: inherited members, too.';

create table protected_environments (
  id bigint generated always as identity not null,
  project_id bigint,
  group_id bigint,
  name text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint protected_environments_pkey PRIMARY KEY (id),
  constraint protected_environments_name_key UNIQUE NULLS NOT DISTINCT (project_id, group_id, name),
  constraint protected_environments_one_owner CHECK (num_nonnulls(project_id, group_id) = 1)
);
CREATE INDEX protected_environments_of_group ON protected_environments USING btree (group_id, name) WHERE group_id IS NOT NULL;
comment on table protected_environments is 'Protected environments of projects; in groups, protected tiers.';
comment on column protected_environments.name is 'Of an environment; in groups, of a tier.';

create table protected_tags (
  id bigint generated always as identity not null,
  project_id bigint not null,
  name text not null,
  create_access_level integer not null,
  created_at timestamp with time zone default now() not null,
  constraint protected_tags_pkey PRIMARY KEY (id),
  constraint protected_tags_name_key UNIQUE (project_id, name),
  constraint protected_tags_create_access_level_check CHECK (create_access_level = ANY (ARRAY[0, 30, 40]))
);
comment on table protected_tags is 'Protected tags of projects, by name; `*` matches any characters.';
comment on column protected_tags.create_access_level is 'Members from this level on may create such a tag; 0 is nobody.';

create table pull_mirrors (
  id bigint generated always as identity not null,
  project_id bigint not null,
  enabled boolean default false not null,
  url text not null,
  login bytea,
  hides_login boolean default false not null,
  public_key text,
  host_keys text[] default '{}'::text[] not null,
  user_id bigint,
  mirror_trigger_builds boolean default false not null,
  only_mirror_protected_branches boolean,
  mirror_overwrites_diverged_branches boolean default false not null,
  mirror_branch_regex text,
  update_status text default 'none'::text not null,
  last_update_at timestamp with time zone,
  last_update_started_at timestamp with time zone,
  last_successful_update_at timestamp with time zone,
  last_error text,
  failures integer default 0 not null,
  is_paused boolean default false not null,
  next_update_at timestamp with time zone,
  constraint pull_mirrors_pkey PRIMARY KEY (id),
  constraint pull_mirrors_project_id_key UNIQUE (project_id),
  constraint pull_mirrors_one_choice CHECK (only_mirror_protected_branches IS NOT TRUE OR mirror_branch_regex IS NULL),
  constraint pull_mirrors_update_status_check CHECK (update_status = ANY (ARRAY['none'::text, 'scheduled'::text, 'started'::text, 'finished'::text, 'failed'::text]))
);
CREATE INDEX pull_mirrors_next_idx ON pull_mirrors USING btree (next_update_at) WHERE enabled AND NOT is_paused;
CREATE INDEX pull_mirrors_user_idx ON pull_mirrors USING btree (user_id) WHERE user_id IS NOT NULL;
comment on table pull_mirrors is 'Remote repositories that a project is pulled from.';
comment on column pull_mirrors.login is 'User, password and private key as JSON, encrypted; null without any.';
comment on column pull_mirrors.public_key is 'Of the key pair for SSH.';
comment on column pull_mirrors.host_keys is 'Type and Base64 of each; without any, the first key that is seen is kept.';
comment on column pull_mirrors.user_id is 'The user on whose behalf changes are made; null pauses the mirror.';
comment on column pull_mirrors.next_update_at is 'Null while an update is due or under way.';

create table push_event_payloads (
  event_id bigint not null,
  commit_count integer not null,
  action text not null,
  ref_type text not null,
  commit_from text,
  commit_to text,
  ref text,
  commit_title text,
  ref_count integer,
  constraint push_event_payloads_pkey PRIMARY KEY (event_id),
  constraint push_event_payloads_action_check CHECK (action = ANY (ARRAY['created'::text, 'removed'::text, 'pushed'::text])),
  constraint push_event_payloads_ref_type_check CHECK (ref_type = ANY (ARRAY['branch'::text, 'tag'::text]))
);
comment on table push_event_payloads is 'What a push event says in addition.';
comment on column push_event_payloads.ref is 'Null where one push moved many refs.';

create table push_rules (
  id bigint generated always as identity not null,
  project_id bigint,
  group_id bigint,
  commit_message_regex text,
  commit_message_negative_regex text,
  branch_name_regex text,
  author_email_regex text,
  file_name_regex text,
  deny_delete_tag boolean default false not null,
  member_check boolean default false not null,
  prevent_secrets boolean default false not null,
  commit_committer_check boolean default false not null,
  commit_committer_name_check boolean default false not null,
  reject_unsigned_commits boolean default false not null,
  reject_non_dco_commits boolean default false not null,
  max_file_size integer default 0 not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint push_rules_pkey PRIMARY KEY (id),
  constraint push_rules_group_id_key UNIQUE (group_id),
  constraint push_rules_project_id_key UNIQUE (project_id),
  constraint push_rules_check CHECK (num_nonnulls(project_id, group_id) = 1),
  constraint push_rules_max_file_size_check CHECK (max_file_size >= 0)
);
comment on table push_rules is 'Rules that pushes to a project must keep. The rule of a group is copied to its new projects.';
comment on column push_rules.max_file_size is 'In MiB; 0 is no limit.';

create table recorded_refs (
  project_id bigint not null,
  ref text not null,
  target text not null,
  update_id bigint not null,
  constraint recorded_refs_pkey PRIMARY KEY (project_id, ref)
);
comment on table recorded_refs is 'Where each branch and tag was last moved to, for `check` to compare with the repositories.';
comment on column recorded_refs.update_id is 'The row of reference_updates: effects of two moves may be written in another order than they happened.';

create table recorded_wiki_refs (
  wiki_id bigint not null,
  ref text not null,
  target text not null,
  update_id bigint not null,
  constraint recorded_wiki_refs_pkey PRIMARY KEY (wiki_id, ref)
);
comment on table recorded_wiki_refs is 'The same for wikis.';

create table redirects (
  path citext not null,
  namespace_id bigint,
  project_id bigint,
  created_at timestamp with time zone default now() not null,
  constraint redirects_pkey PRIMARY KEY (path),
  constraint redirects_one_target CHECK (num_nonnulls(namespace_id, project_id) = 1)
);
CREATE INDEX redirects_by_namespace ON redirects USING btree (namespace_id) WHERE namespace_id IS NOT NULL;
CREATE INDEX redirects_by_project ON redirects USING btree (project_id) WHERE project_id IS NOT NULL;
comment on table redirects is 'Full paths that were given up, with the namespace or project that had them. What stands at a path now wins.';

create table reference_updates (
  id bigint generated always as identity not null,
  project_id bigint,
  user_id bigint,
  updates jsonb not null,
  created_at timestamp with time zone default now() not null,
  snippet_id bigint,
  changes jsonb,
  merge_request_id bigint,
  merge jsonb,
  wiki_id bigint,
  storage text,
  constraint reference_updates_pkey PRIMARY KEY (id),
  constraint reference_updates_owner CHECK (num_nonnulls(project_id, snippet_id, wiki_id) = 1)
);
CREATE INDEX reference_updates_by_merge_request ON reference_updates USING btree (merge_request_id) WHERE merge_request_id IS NOT NULL;
CREATE INDEX reference_updates_by_project ON reference_updates USING btree (project_id);
CREATE INDEX reference_updates_by_snippet ON reference_updates USING btree (snippet_id) WHERE snippet_id IS NOT NULL;
CREATE INDEX reference_updates_by_wiki ON reference_updates USING btree (wiki_id) WHERE wiki_id IS NOT NULL;
comment on table reference_updates is 'The journal of moves of refs whose effects on the database are not written yet. A row that survives a crash says what to look at.';
comment on column reference_updates.changes is 'Columns of the snippet that change together with its files.';
comment on column reference_updates.merge is 'What becomes of a merge request when its branch has moved: {"head", "merge_commit_sha", "squash_commit_sha"}.';
comment on column reference_updates.storage is 'The storage that the writer has written objects to: it must still be that of the repository.';

create table relation_export_files (
  id bigint generated always as identity not null,
  export_id bigint not null,
  batch_number integer not null,
  first_id bigint,
  last_id bigint,
  status integer default 0 not null,
  error text,
  objects_count bigint default 0 not null,
  failures integer default 0 not null,
  due_at timestamp with time zone default now() not null,
  slot integer,
  run integer default 0 not null,
  heard_at timestamp with time zone,
  blob_key text,
  size_bytes bigint,
  sha256 text,
  updated_at timestamp with time zone default now() not null,
  constraint relation_export_files_pkey PRIMARY KEY (id),
  constraint relation_export_files_blob_key_key UNIQUE (blob_key),
  constraint relation_export_files_export_id_batch_number_key UNIQUE (export_id, batch_number),
  constraint relation_export_files_check CHECK (num_nonnulls(blob_key, size_bytes, sha256) = ANY (ARRAY[0, 3])),
  constraint relation_export_files_error_check CHECK (char_length(error) <= 255),
  constraint relation_export_files_status_check CHECK (status = ANY (ARRAY['-1'::integer, 0, 1]))
);
CREATE UNIQUE INDEX relation_export_files_being_written ON relation_export_files USING btree (slot) WHERE status = 0 AND slot IS NOT NULL;
CREATE INDEX relation_export_files_that_wait ON relation_export_files USING btree (due_at, id) WHERE status = 0;
comment on table relation_export_files is 'Files of an export, each written by a job: number 0 is the whole relation, the others are batches.';
comment on column relation_export_files.first_id is 'The first id of the batch.';
comment on column relation_export_files.due_at is 'While it is started, when its run counts as dead.';
comment on column relation_export_files.run is 'How often it was begun: an earlier run that still works changes nothing.';
comment on column relation_export_files.slot is 'Which of the places for exports that run at the same time it has.';

create table relation_exports (
  id bigint generated always as identity not null,
  user_id bigint not null,
  project_id bigint,
  group_id bigint,
  relation text not null,
  batched boolean not null,
  status integer default 0 not null,
  error text,
  batches_count integer default 0 not null,
  total_objects_count bigint default 0 not null,
  updated_at timestamp with time zone default now() not null,
  constraint relation_exports_pkey PRIMARY KEY (id),
  constraint relation_exports_user_id_project_id_group_id_relation_key UNIQUE NULLS NOT DISTINCT (user_id, project_id, group_id, relation),
  constraint relation_exports_check CHECK (num_nonnulls(project_id, group_id) = 1),
  constraint relation_exports_error_check CHECK (char_length(error) <= 255),
  constraint relation_exports_status_check CHECK (status = ANY (ARRAY['-1'::integer, 0, 1]))
);
CREATE INDEX relation_exports_by_group ON relation_exports USING btree (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX relation_exports_by_project ON relation_exports USING btree (project_id) WHERE project_id IS NOT NULL;
CREATE INDEX relation_exports_that_ended ON relation_exports USING btree (updated_at) WHERE status <> 0;
comment on table relation_exports is 'Exports of one relation of a project or group, for direct transfer.';

create table release_evidences (
  id bigint generated always as identity not null,
  release_id bigint not null,
  summary text not null,
  sha text not null,
  collected_at timestamp with time zone default now() not null,
  constraint release_evidences_pkey PRIMARY KEY (id)
);
CREATE INDEX release_evidences_release_idx ON release_evidences USING btree (release_id, id);
comment on table release_evidences is 'Evidence of releases: the text itself, because its hash is handed out.';

create table release_links (
  id bigint generated always as identity not null,
  release_id bigint not null,
  name text not null,
  url text not null,
  filepath text,
  link_type text default 'other'::text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint release_links_pkey PRIMARY KEY (id),
  constraint release_links_filepath_key UNIQUE (release_id, filepath),
  constraint release_links_name_key UNIQUE (release_id, name),
  constraint release_links_url_key UNIQUE (release_id, url),
  constraint release_links_link_type_check CHECK (link_type = ANY (ARRAY['other'::text, 'runbook'::text, 'image'::text, 'package'::text]))
);
CREATE INDEX release_links_release_idx ON release_links USING btree (release_id, id);
comment on table release_links is 'Links of releases to assets.';
comment on column release_links.filepath is 'Begins with a slash; the link has a permanent address by it.';

create table release_milestones (
  release_id bigint not null,
  milestone_id bigint not null,
  constraint release_milestones_pkey PRIMARY KEY (release_id, milestone_id)
);
CREATE INDEX release_milestones_milestone_idx ON release_milestones USING btree (milestone_id);
comment on table release_milestones is 'Milestones of releases.';

create table releases (
  id bigint generated always as identity not null,
  project_id bigint not null,
  tag text not null,
  name text not null,
  description text,
  author_id bigint,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  released_at timestamp with time zone default now() not null,
  evidence_due boolean default false not null,
  constraint releases_pkey PRIMARY KEY (id),
  constraint releases_project_id_tag_key UNIQUE (project_id, tag),
  constraint releases_name_check CHECK (length(name) >= 1 AND length(name) <= 255)
);
CREATE INDEX releases_author_idx ON releases USING btree (author_id);
CREATE INDEX releases_evidence_due_idx ON releases USING btree (released_at) WHERE evidence_due;
CREATE INDEX releases_project_created_idx ON releases USING btree (project_id, created_at, id);
CREATE INDEX releases_project_released_idx ON releases USING btree (project_id, released_at, id);
CREATE INDEX releases_released_idx ON releases USING btree (released_at, id);
CREATE INDEX releases_tag_idx ON releases USING btree (tag, project_id);
comment on table releases is 'Releases of projects.';
comment on column releases.released_at is 'In the future: an upcoming release. In the past at its creation: a historical one, without evidence.';
comment on column releases.evidence_due is 'Whether evidence is collected at released_at.';

create table remote_mirrors (
  id bigint generated always as identity not null,
  project_id bigint not null,
  enabled boolean default false not null,
  url text not null,
  login bytea,
  hides_login boolean default false not null,
  auth_method text default 'password'::text not null,
  public_key text,
  host_keys text[] default '{}'::text[] not null,
  only_protected_branches boolean default false not null,
  mirror_branch_regex text,
  keep_divergent_refs boolean default false not null,
  update_status text default 'none'::text not null,
  last_update_at timestamp with time zone,
  last_update_started_at timestamp with time zone,
  last_successful_update_at timestamp with time zone,
  last_error text,
  failures integer default 0 not null,
  large_files_sent_at timestamp with time zone,
  is_told boolean default false not null,
  constraint remote_mirrors_pkey PRIMARY KEY (id),
  constraint remote_mirrors_auth_method_check CHECK (auth_method = ANY (ARRAY['password'::text, 'ssh_public_key'::text])),
  constraint remote_mirrors_one_choice CHECK (NOT only_protected_branches OR mirror_branch_regex IS NULL),
  constraint remote_mirrors_update_status_check CHECK (update_status = ANY (ARRAY['none'::text, 'scheduled'::text, 'started'::text, 'finished'::text, 'failed'::text, 'to_retry'::text]))
);
CREATE INDEX remote_mirrors_project_idx ON remote_mirrors USING btree (project_id, id);
comment on table remote_mirrors is 'Remote repositories that a project is pushed to.';
comment on column remote_mirrors.login is 'User, password and private key as JSON, encrypted; null without any.';
comment on column remote_mirrors.public_key is 'Of the key pair for SSH.';
comment on column remote_mirrors.host_keys is 'Type and Base64 of each; without any, the first key that is seen is kept.';
comment on column remote_mirrors.large_files_sent_at is 'When an update began that has sent all large files.';
comment on column remote_mirrors.is_told is 'Whether the maintainers were told of the failure.';

create table removed_issue_numbers (
  project_id bigint not null,
  iid integer not null,
  constraint removed_issue_numbers_pkey PRIMARY KEY (project_id, iid)
);
comment on table removed_issue_numbers is 'Numbers of deleted issues, which are never used again.';

create table repository_sizes (
  project_id bigint not null,
  commit_count bigint not null,
  size_bytes bigint not null,
  is_stale boolean default false not null,
  changes bigint default 0 not null,
  constraint repository_sizes_pkey PRIMARY KEY (project_id)
);
comment on table repository_sizes is 'Sizes of repositories as they were last measured, so that lists start no git process per project.';
comment on column repository_sizes.commit_count is 'Of the default branch.';
comment on column repository_sizes.size_bytes is 'On the disk.';
comment on column repository_sizes.changes is 'Counts changes: one during a measurement leaves the size stale.';

create table repository_storage_moves (
  id bigint generated always as identity not null,
  project_id bigint,
  snippet_id bigint,
  group_id bigint,
  source_storage text not null,
  destination_storage text not null,
  state text default 'scheduled'::text not null,
  error_message text,
  runs integer default 0 not null,
  created_at timestamp with time zone default now() not null,
  replicated_at timestamp with time zone,
  copied jsonb default '[]'::jsonb not null,
  used_until timestamp with time zone,
  constraint repository_storage_moves_pkey PRIMARY KEY (id),
  constraint repository_storage_moves_check CHECK (num_nonnulls(project_id, snippet_id, group_id) = 1),
  constraint repository_storage_moves_error_message_check CHECK (char_length(error_message) <= 255),
  constraint repository_storage_moves_state_check CHECK (state = ANY (ARRAY['scheduled'::text, 'started'::text, 'replicated'::text, 'finished'::text, 'failed'::text, 'cleanup failed'::text]))
);
CREATE INDEX repository_storage_moves_by_group ON repository_storage_moves USING btree (group_id, created_at DESC, id DESC) WHERE group_id IS NOT NULL;
CREATE INDEX repository_storage_moves_by_project ON repository_storage_moves USING btree (project_id, created_at DESC, id DESC) WHERE project_id IS NOT NULL;
CREATE INDEX repository_storage_moves_by_snippet ON repository_storage_moves USING btree (snippet_id, created_at DESC, id DESC) WHERE snippet_id IS NOT NULL;
CREATE INDEX repository_storage_moves_by_switch ON repository_storage_moves USING btree (replicated_at) WHERE replicated_at IS NOT NULL;
CREATE UNIQUE INDEX repository_storage_moves_of_group ON repository_storage_moves USING btree (group_id) WHERE state = ANY (ARRAY['scheduled'::text, 'started'::text, 'replicated'::text]);
CREATE INDEX repository_storage_moves_of_groups ON repository_storage_moves USING btree (created_at DESC, id DESC) WHERE group_id IS NOT NULL;
CREATE UNIQUE INDEX repository_storage_moves_of_project ON repository_storage_moves USING btree (project_id) WHERE state = ANY (ARRAY['scheduled'::text, 'started'::text, 'replicated'::text]);
CREATE INDEX repository_storage_moves_of_projects ON repository_storage_moves USING btree (created_at DESC, id DESC) WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX repository_storage_moves_of_snippet ON repository_storage_moves USING btree (snippet_id) WHERE state = ANY (ARRAY['scheduled'::text, 'started'::text, 'replicated'::text]);
CREATE INDEX repository_storage_moves_of_snippets ON repository_storage_moves USING btree (created_at DESC, id DESC) WHERE snippet_id IS NOT NULL;
CREATE INDEX repository_storage_moves_under_way ON repository_storage_moves USING btree (id) WHERE state = ANY (ARRAY['scheduled'::text, 'started'::text, 'replicated'::text]);
comment on table repository_storage_moves is 'Moves of repositories to another storage.';
comment on column repository_storage_moves.runs is 'How often it was begun; the third run that dies is the last.';
comment on column repository_storage_moves.copied is 'Repositories that have two copies, as [{kind, id}].';
comment on column repository_storage_moves.used_until is 'Until when a server may still read the old copy.';

create unlogged table request_counts (
  name text not null,
  who text not null,
  ends_at timestamp with time zone not null,
  count integer not null,
  constraint request_counts_pkey PRIMARY KEY (name, who)
);
CREATE INDEX request_counts_by_end ON request_counts USING btree (ends_at);
comment on table request_counts is 'Requests within the current window of each limit, over all processes. Not logged: counting begins anew after a crash.';

create table resource_iteration_events (
  id bigint generated always as identity not null,
  issue_id bigint not null,
  user_id bigint,
  iteration_id bigint,
  action text not null,
  created_at timestamp with time zone default now() not null,
  constraint resource_iteration_events_pkey PRIMARY KEY (id),
  constraint resource_iteration_events_action_check CHECK (action = ANY (ARRAY['add'::text, 'remove'::text]))
);
CREATE INDEX resource_iteration_events_by_iteration ON resource_iteration_events USING btree (iteration_id);
CREATE INDEX resource_iteration_events_by_user ON resource_iteration_events USING btree (user_id);
CREATE INDEX resource_iteration_events_of_issue ON resource_iteration_events USING btree (issue_id, id);
comment on table resource_iteration_events is 'Changes of the iteration of an issue.';

create table resource_label_events (
  id bigint generated always as identity not null,
  issue_id bigint,
  epic_id bigint,
  user_id bigint,
  label_id bigint,
  action text not null,
  created_at timestamp with time zone default now() not null,
  merge_request_id bigint,
  constraint resource_label_events_pkey PRIMARY KEY (id),
  constraint resource_label_events_action_check CHECK (action = ANY (ARRAY['add'::text, 'remove'::text])),
  constraint resource_label_events_have_one_resource CHECK (num_nonnulls(issue_id, epic_id, merge_request_id) = 1)
);
CREATE INDEX resource_label_events_by_label ON resource_label_events USING btree (label_id);
CREATE INDEX resource_label_events_by_user ON resource_label_events USING btree (user_id);
CREATE INDEX resource_label_events_of_epic ON resource_label_events USING btree (epic_id, id) WHERE epic_id IS NOT NULL;
CREATE INDEX resource_label_events_of_issue ON resource_label_events USING btree (issue_id, id) WHERE issue_id IS NOT NULL;
CREATE INDEX resource_label_events_of_merge_request ON resource_label_events USING btree (merge_request_id, id) WHERE merge_request_id IS NOT NULL;
comment on table resource_label_events is 'Labels that were added to or removed from an issue, epic or merge request.';

create table resource_milestone_events (
  id bigint generated always as identity not null,
  issue_id bigint,
  user_id bigint,
  milestone_id bigint,
  action text not null,
  state text not null,
  created_at timestamp with time zone default now() not null,
  merge_request_id bigint,
  constraint resource_milestone_events_pkey PRIMARY KEY (id),
  constraint resource_milestone_events_action_check CHECK (action = ANY (ARRAY['add'::text, 'remove'::text])),
  constraint resource_milestone_events_have_one_resource CHECK (num_nonnulls(issue_id, merge_request_id) = 1),
  constraint resource_milestone_events_state_check CHECK (state = ANY (ARRAY['opened'::text, 'closed'::text, 'merged'::text]))
);
CREATE INDEX resource_milestone_events_by_milestone ON resource_milestone_events USING btree (milestone_id, created_at);
CREATE INDEX resource_milestone_events_by_user ON resource_milestone_events USING btree (user_id);
CREATE INDEX resource_milestone_events_of_issue ON resource_milestone_events USING btree (issue_id, id);
CREATE INDEX resource_milestone_events_of_merge_request ON resource_milestone_events USING btree (merge_request_id, id) WHERE merge_request_id IS NOT NULL;
comment on table resource_milestone_events is 'Changes of the milestone of an issue or merge request.';

create table resource_state_events (
  id bigint generated always as identity not null,
  issue_id bigint,
  epic_id bigint,
  user_id bigint,
  state text not null,
  created_at timestamp with time zone default now() not null,
  merge_request_id bigint,
  constraint resource_state_events_pkey PRIMARY KEY (id),
  constraint resource_state_events_have_one_resource CHECK (num_nonnulls(issue_id, epic_id, merge_request_id) = 1),
  constraint resource_state_events_state_check CHECK (state = ANY (ARRAY['opened'::text, 'closed'::text, 'reopened'::text, 'merged'::text]))
);
CREATE INDEX resource_state_events_by_user ON resource_state_events USING btree (user_id);
CREATE INDEX resource_state_events_of_epic ON resource_state_events USING btree (epic_id, id) WHERE epic_id IS NOT NULL;
CREATE INDEX resource_state_events_of_issue ON resource_state_events USING btree (issue_id, id) WHERE issue_id IS NOT NULL;
CREATE INDEX resource_state_events_of_merge_request ON resource_state_events USING btree (merge_request_id, id) WHERE merge_request_id IS NOT NULL;
comment on table resource_state_events is 'Changes of the state of an issue, epic or merge request.';

create table resource_weight_events (
  id bigint generated always as identity not null,
  issue_id bigint not null,
  user_id bigint,
  weight integer,
  created_at timestamp with time zone default now() not null,
  constraint resource_weight_events_pkey PRIMARY KEY (id)
);
CREATE INDEX resource_weight_events_by_user ON resource_weight_events USING btree (user_id);
CREATE INDEX resource_weight_events_of_issue ON resource_weight_events USING btree (issue_id, id);
comment on table resource_weight_events is 'Changes of the weight of an issue.';

create table rights_versions (
  id integer generated always as identity not null,
  version bigint default 1 not null,
  constraint rights_versions_pkey PRIMARY KEY (id)
) with (fillfactor=50);
comment on table rights_versions is 'The sum of these rows is the version of all rights: each change of a row that rights depend on raises it. There are several rows so that transactions do not wait for each other.';

create table service_accounts (
  user_id bigint not null,
  group_id bigint,
  constraint service_accounts_pkey PRIMARY KEY (user_id)
);
CREATE INDEX service_accounts_by_group ON service_accounts USING btree (group_id, user_id) WHERE group_id IS NOT NULL;
comment on table service_accounts is 'Accounts of programs: of a top-level group or, without a group, of the instance.';

create table snippet_user_agents (
  snippet_id bigint not null,
  user_agent text not null,
  ip_address inet not null,
  akismet_submitted boolean default false not null,
  constraint snippet_user_agents_pkey PRIMARY KEY (snippet_id)
);
comment on table snippet_user_agents is 'Where a snippet was written from, for administrators who look for spam.';

create table snippets (
  id bigint generated always as identity not null,
  project_id bigint,
  user_id bigint,
  author_id bigint not null,
  title text not null,
  description text,
  visibility text not null,
  storage text not null,
  branch text not null,
  commit_id text not null,
  paths text[] not null,
  size_bytes bigint not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  imported_from text default 'none'::text not null,
  constraint snippets_pkey PRIMARY KEY (id),
  constraint snippets_check CHECK (num_nonnulls(project_id, user_id) = 1),
  constraint snippets_commit_id_check CHECK (commit_id ~ '^[0-9a-f]{40}$'::text),
  constraint snippets_paths_check CHECK (cardinality(paths) > 0),
  constraint snippets_size_bytes_check CHECK (size_bytes >= 0),
  constraint snippets_title_check CHECK (char_length(title) >= 1 AND char_length(title) <= 255),
  constraint snippets_visibility_check CHECK (visibility = ANY (ARRAY['private'::text, 'internal'::text, 'public'::text]))
);
CREATE INDEX snippets_by_author ON snippets USING btree (author_id, id DESC);
CREATE INDEX snippets_by_project ON snippets USING btree (project_id, id DESC) WHERE project_id IS NOT NULL;
CREATE INDEX snippets_by_user ON snippets USING btree (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX snippets_file_search ON snippets USING gin ((paths[1]) gin_trgm_ops);
CREATE INDEX snippets_for_everyone ON snippets USING btree (id DESC) WHERE project_id IS NULL AND visibility = 'public'::text;
CREATE INDEX snippets_search ON snippets USING gin (title gin_trgm_ops, description gin_trgm_ops);
comment on table snippets is 'Snippets of a project or a user. The files are in a git repository of the snippet.';
comment on column snippets.user_id is 'The owner of a personal snippet; the author becomes the ghost user when the account is deleted.';
comment on column snippets.paths is 'The files of commit_id, in git''s order.';

create table subscriptions (
  id bigint generated always as identity not null,
  user_id bigint not null,
  issue_id bigint,
  epic_id bigint,
  label_id bigint,
  subscribed boolean not null,
  created_at timestamp with time zone default now() not null,
  merge_request_id bigint,
  constraint subscriptions_pkey PRIMARY KEY (id),
  constraint subscriptions_key UNIQUE NULLS NOT DISTINCT (user_id, issue_id, epic_id, merge_request_id, label_id),
  constraint subscriptions_have_one_object CHECK (num_nonnulls(issue_id, epic_id, merge_request_id, label_id) = 1)
);
CREATE INDEX subscriptions_to_epic ON subscriptions USING btree (epic_id) WHERE epic_id IS NOT NULL;
CREATE INDEX subscriptions_to_issue ON subscriptions USING btree (issue_id) WHERE issue_id IS NOT NULL;
CREATE INDEX subscriptions_to_label ON subscriptions USING btree (label_id) WHERE label_id IS NOT NULL;
CREATE INDEX subscriptions_to_merge_request ON subscriptions USING btree (merge_request_id) WHERE merge_request_id IS NOT NULL;
comment on table subscriptions is 'What a user has subscribed to or unsubscribed from; without a row, participants are subscribed.';

create table suggestions (
  id bigint generated always as identity not null,
  note_id bigint not null,
  lines_above integer not null,
  lines_below integer not null,
  from_content text not null,
  to_content text not null,
  outdated boolean default false not null,
  commit_id text,
  constraint suggestions_pkey PRIMARY KEY (id),
  constraint suggestions_commit_id_check CHECK (commit_id ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'::text),
  constraint suggestions_lines_above_check CHECK (lines_above >= 0 AND lines_above <= 100),
  constraint suggestions_lines_below_check CHECK (lines_below >= 0 AND lines_below <= 100)
);
CREATE INDEX suggestions_in_order ON suggestions USING btree (note_id, id);
comment on table suggestions is 'Changes of lines that comments on a diff propose.';
comment on column suggestions.lines_above is 'Lines above the place of the note that it replaces.';
comment on column suggestions.commit_id is 'The commit that applied it; null until then.';

create table timelogs (
  id bigint generated always as identity not null,
  issue_id bigint,
  user_id bigint,
  time_spent_s integer not null,
  spent_at timestamp with time zone default now() not null,
  summary text,
  created_at timestamp with time zone default now() not null,
  merge_request_id bigint,
  constraint timelogs_pkey PRIMARY KEY (id),
  constraint timelogs_have_one_object CHECK (num_nonnulls(issue_id, merge_request_id) = 1)
);
CREATE INDEX timelogs_by_issue ON timelogs USING btree (issue_id, id);
CREATE INDEX timelogs_by_merge_request ON timelogs USING btree (merge_request_id, id) WHERE merge_request_id IS NOT NULL;
CREATE INDEX timelogs_by_user ON timelogs USING btree (user_id);
comment on table timelogs is 'Time spent on issues and merge requests.';
comment on column timelogs.time_spent_s is 'Negative where time was taken back.';

create table todos (
  id bigint generated always as identity not null,
  user_id bigint not null,
  project_id bigint,
  group_id bigint,
  author_id bigint,
  action_name text not null,
  issue_id bigint,
  epic_id bigint,
  note_id bigint,
  state text default 'pending'::text not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  access_request_id bigint,
  commit_id text,
  merge_request_id bigint,
  placeholder_id bigint,
  constraint todos_pkey PRIMARY KEY (id),
  constraint todos_action_name_check CHECK (action_name = ANY (ARRAY['assigned'::text, 'mentioned'::text, 'directly_addressed'::text, 'marked'::text, 'review_requested'::text, 'member_access_requested'::text, 'placeholder_proposed'::text])),
  constraint todos_name_whole_commits CHECK (commit_id IS NULL OR project_id IS NOT NULL),
  constraint todos_state_check CHECK (state = ANY (ARRAY['pending'::text, 'done'::text]))
);
CREATE INDEX todos_by_access_request ON todos USING btree (access_request_id) WHERE access_request_id IS NOT NULL;
CREATE INDEX todos_by_author ON todos USING btree (author_id);
CREATE INDEX todos_by_group ON todos USING btree (group_id);
CREATE INDEX todos_by_note ON todos USING btree (note_id) WHERE note_id IS NOT NULL;
CREATE INDEX todos_by_placeholder ON todos USING btree (placeholder_id) WHERE placeholder_id IS NOT NULL;
CREATE INDEX todos_by_project ON todos USING btree (project_id);
CREATE INDEX todos_of_user ON todos USING btree (user_id, state, id);
CREATE INDEX todos_on_commit ON todos USING btree (project_id, commit_id, user_id) WHERE commit_id IS NOT NULL;
CREATE INDEX todos_on_epic ON todos USING btree (epic_id, user_id) WHERE epic_id IS NOT NULL;
CREATE INDEX todos_on_issue ON todos USING btree (issue_id, user_id) WHERE issue_id IS NOT NULL;
CREATE INDEX todos_on_merge_request ON todos USING btree (merge_request_id, user_id) WHERE merge_request_id IS NOT NULL;
CREATE UNIQUE INDEX todos_one_pending_on_commit ON todos USING btree (user_id, project_id, commit_id) WHERE state = 'pending'::text AND commit_id IS NOT NULL;
CREATE UNIQUE INDEX todos_one_pending_on_epic ON todos USING btree (user_id, epic_id) WHERE state = 'pending'::text AND epic_id IS NOT NULL;
CREATE UNIQUE INDEX todos_one_pending_on_issue ON todos USING btree (user_id, issue_id) WHERE state = 'pending'::text AND issue_id IS NOT NULL;
CREATE UNIQUE INDEX todos_one_pending_on_merge_request ON todos USING btree (user_id, merge_request_id) WHERE state = 'pending'::text AND merge_request_id IS NOT NULL;
comment on table todos is 'To-do items of users.';

create table topics (
  id bigint generated always as identity not null,
  name citext not null,
  title text not null,
  description text,
  total_projects_count bigint default 0 not null,
  avatar text,
  avatar_key text,
  public_projects_count bigint default 0 not null,
  shown_projects_count bigint default 0 not null,
  constraint topics_pkey PRIMARY KEY (id),
  constraint topics_name_key UNIQUE (name),
  constraint topics_check CHECK ((avatar IS NULL) = (avatar_key IS NULL))
);
CREATE INDEX topics_by_avatar ON topics USING btree (avatar_key) WHERE avatar_key IS NOT NULL;
CREATE INDEX topics_by_projects ON topics USING btree (total_projects_count DESC, id);
CREATE INDEX topics_by_public_projects ON topics USING btree (public_projects_count DESC, id);
CREATE INDEX topics_by_shown_projects ON topics USING btree (shown_projects_count DESC, id);
CREATE INDEX topics_search ON topics USING gin ((name::text) gin_trgm_ops, title gin_trgm_ops);
comment on table topics is 'Topics of projects. Triggers keep the count and the spelling in projects.topics.';

create table unused_blobs (
  key text not null,
  since timestamp with time zone default now() not null,
  constraint unused_blobs_pkey PRIMARY KEY (key)
);
CREATE INDEX unused_blobs_by_age ON unused_blobs USING btree (since);
comment on table unused_blobs is 'Blobs without a row: one that is about to come in, and one whose row is gone. A job deletes them.';

create table unused_repositories (
  id bigint not null,
  storage text not null,
  due_at timestamp with time zone not null,
  kind text not null,
  constraint unused_repositories_pkey PRIMARY KEY (kind, id, storage)
);
CREATE INDEX unused_repositories_by_time ON unused_repositories USING btree (due_at);
comment on table unused_repositories is 'Repositories without an owner, which a job deletes.';

create table uploads (
  id bigint generated always as identity not null,
  project_id bigint,
  group_id bigint,
  user_id bigint,
  secret text not null,
  filename text not null,
  blob_key text not null,
  size_bytes bigint not null,
  sha256 text not null,
  created_at timestamp with time zone default now() not null,
  constraint uploads_pkey PRIMARY KEY (id),
  constraint uploads_secret_key UNIQUE (secret),
  constraint uploads_check CHECK (num_nonnulls(project_id, group_id) = 1),
  constraint uploads_secret_check CHECK (secret ~ '^[0-9a-f]{32}$'::text),
  constraint uploads_sha256_check CHECK (sha256 ~ '^[0-9a-f]{64}$'::text),
  constraint uploads_size_bytes_check CHECK (size_bytes >= 0)
);
CREATE INDEX uploads_by_blob ON uploads USING btree (blob_key);
CREATE INDEX uploads_by_group ON uploads USING btree (group_id, created_at DESC, id DESC) WHERE group_id IS NOT NULL;
CREATE INDEX uploads_by_project ON uploads USING btree (project_id, created_at DESC, id DESC) WHERE project_id IS NOT NULL;
CREATE INDEX uploads_by_user ON uploads USING btree (user_id);
comment on table uploads is 'Files that users attached to texts of a project or group. Copies share a blob.';
comment on column uploads.secret is 'A part of the URL that nobody can guess.';

create table user_follows (
  follower_id bigint not null,
  followed_id bigint not null,
  created_at timestamp with time zone default now() not null,
  constraint user_follows_pkey PRIMARY KEY (followed_id, follower_id),
  constraint user_follows_others CHECK (follower_id <> followed_id)
);
CREATE INDEX user_follows_by_follower ON user_follows USING btree (follower_id, followed_id);
comment on table user_follows is 'Users who follow each other.';

create table user_identities (
  user_id bigint not null,
  provider text not null,
  extern_uid text not null,
  constraint user_identities_pkey PRIMARY KEY (user_id, provider),
  constraint user_identities_extern_uid_key UNIQUE (provider, extern_uid)
);
comment on table user_identities is 'Accounts of users at identity providers.';

create table user_mentions (
  user_id bigint not null,
  issue_id bigint,
  epic_id bigint,
  note_id bigint,
  snippet_id bigint,
  merge_request_id bigint,
  constraint user_mentions_key UNIQUE NULLS NOT DISTINCT (issue_id, epic_id, merge_request_id, note_id, user_id)
);
CREATE INDEX user_mentions_by_epic ON user_mentions USING btree (epic_id) WHERE epic_id IS NOT NULL;
CREATE INDEX user_mentions_by_merge_request ON user_mentions USING btree (merge_request_id) WHERE merge_request_id IS NOT NULL;
CREATE INDEX user_mentions_by_note ON user_mentions USING btree (note_id) WHERE note_id IS NOT NULL;
CREATE INDEX user_mentions_by_snippet ON user_mentions USING btree (snippet_id) WHERE snippet_id IS NOT NULL;
CREATE INDEX user_mentions_by_user ON user_mentions USING btree (user_id);
alter table user_mentions replica identity full;
comment on table user_mentions is 'Users who are mentioned in a description (without a note) or in a note.';

create table user_statuses (
  user_id bigint not null,
  emoji text default 'speech_balloon'::text not null,
  message text,
  availability text default 'not_set'::text not null,
  clear_status_at timestamp with time zone,
  constraint user_statuses_pkey PRIMARY KEY (user_id),
  constraint user_statuses_availability_check CHECK (availability = ANY (ARRAY['not_set'::text, 'busy'::text]))
);
comment on table user_statuses is 'Statuses that users set for a while.';

create table users (
  id bigint generated always as identity not null,
  username citext not null,
  name text not null,
  email citext not null,
  unconfirmed_email citext,
  state text default 'active'::text not null,
  user_type text default 'human'::text not null,
  admin boolean default false not null,
  external boolean default false not null,
  can_create_group boolean default true not null,
  projects_limit integer default 100000 not null,
  private_profile boolean default false not null,
  password_digest text,
  bio text default ''::text not null,
  location text default ''::text not null,
  public_email citext default ''::citext not null,
  commit_email citext,
  linkedin text default ''::text not null,
  twitter text default ''::text not null,
  discord text default ''::text not null,
  github text default ''::text not null,
  website_url text default ''::text not null,
  organization text default ''::text not null,
  job_title text default ''::text not null,
  pronouns text,
  note text,
  theme_id integer default 1 not null,
  color_scheme_id integer default 1 not null,
  created_by_id bigint,
  confirmed_at timestamp with time zone,
  last_activity_on date,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  view_diffs_file_by_file boolean default false not null,
  show_whitespace_in_diffs boolean default true not null,
  pass_user_identities_to_ci_jwt boolean default false not null,
  unconfirmed_email_seed uuid,
  unconfirmed_email_sent_at timestamp with time zone,
  avatar text,
  avatar_key text,
  sign_in_count integer default 0 not null,
  current_sign_in_at timestamp with time zone,
  last_sign_in_at timestamp with time zone,
  current_sign_in_ip text,
  last_sign_in_ip text,
  notified_of_own_activity boolean default false not null,
  page_theme text default 'auto'::text not null,
  constraint users_pkey PRIMARY KEY (id),
  constraint users_unconfirmed_email_seed_key UNIQUE (unconfirmed_email_seed),
  constraint users_username_key UNIQUE (username),
  constraint users_check CHECK ((avatar IS NULL) = (avatar_key IS NULL)),
  constraint users_page_theme_check CHECK (page_theme = ANY (ARRAY['auto'::text, 'light'::text, 'dark'::text])),
  constraint users_state_check CHECK (state = ANY (ARRAY['active'::text, 'blocked'::text, 'blocked_pending_approval'::text, 'deactivated'::text, 'banned'::text])),
  constraint users_unconfirmed_email_check CHECK ((unconfirmed_email IS NULL) = (unconfirmed_email_seed IS NULL) AND (unconfirmed_email IS NULL) = (unconfirmed_email_sent_at IS NULL)),
  constraint users_user_type_check CHECK (user_type = ANY (ARRAY['human'::text, 'ghost'::text, 'project_bot'::text, 'service_account'::text, 'placeholder'::text]))
);
CREATE INDEX users_bots ON users USING btree (id) WHERE user_type = 'project_bot'::text;
CREATE INDEX users_by_activity ON users USING btree (last_activity_on, id) WHERE last_activity_on IS NOT NULL;
CREATE INDEX users_by_avatar ON users USING btree (avatar_key) WHERE avatar_key IS NOT NULL;
CREATE INDEX users_by_change ON users USING btree (updated_at, id);
CREATE INDEX users_by_creation ON users USING btree (created_at, id);
CREATE INDEX users_by_creator ON users USING btree (created_by_id) WHERE created_by_id IS NOT NULL;
CREATE INDEX users_by_lower_name ON users USING btree (lower(name));
CREATE INDEX users_by_name ON users USING btree (name, id);
CREATE INDEX users_by_public_email ON users USING btree (public_email) WHERE public_email <> ''::citext;
CREATE UNIQUE INDEX users_email_key ON users USING btree (email);
CREATE INDEX users_name_search ON users USING gin (name gin_trgm_ops);
CREATE UNIQUE INDEX users_one_ghost ON users USING btree (user_type) WHERE user_type = 'ghost'::text;
CREATE INDEX users_placeholders ON users USING btree (id) WHERE user_type = 'placeholder'::text;
CREATE INDEX users_service_accounts ON users USING btree (id) WHERE user_type = 'service_account'::text;
CREATE INDEX users_service_accounts_by_username ON users USING btree (username, id) WHERE user_type = 'service_account'::text;
CREATE UNIQUE INDEX users_unconfirmed_email_key ON users USING btree (unconfirmed_email);
CREATE INDEX users_username_search ON users USING gin ((username::text) gin_trgm_ops);
CREATE INDEX users_with_unconfirmed_email ON users USING btree (unconfirmed_email_sent_at) WHERE unconfirmed_email IS NOT NULL;
comment on table users is 'People, bots, service accounts and the ghost user.';
comment on column users.email is 'The primary address. Two addresses that differ only in case are the same.';
comment on column users.unconfirmed_email is 'An address that becomes the primary one when it is confirmed.';
comment on column users.public_email is 'Null or an address of the user.';
comment on column users.commit_email is 'Null is the primary address; `_private` is one that receives no mail.';
comment on column users.page_theme is 'Light, dark or as the system.';

create table variables (
  id bigint generated always as identity not null,
  project_id bigint,
  group_id bigint,
  key text not null,
  variable_type text default 'env_var'::text not null,
  value bytea not null,
  protected boolean default false not null,
  masked boolean default false not null,
  hidden boolean default false not null,
  raw boolean default false not null,
  environment_scope text default '*'::text not null,
  description text,
  constraint variables_pkey PRIMARY KEY (id),
  constraint variables_key UNIQUE NULLS NOT DISTINCT (project_id, group_id, key, environment_scope),
  constraint variables_check CHECK (project_id IS NULL OR group_id IS NULL),
  constraint variables_check1 CHECK (masked OR NOT hidden),
  constraint variables_variable_type_check CHECK (variable_type = ANY (ARRAY['env_var'::text, 'file'::text]))
);
CREATE INDEX variables_by_group ON variables USING btree (group_id) WHERE group_id IS NOT NULL;
comment on table variables is 'CI/CD variables of a project, of a group or of the instance.';
comment on column variables.value is 'Encrypted with the secret key.';

create table vulnerabilities (
  id bigint generated always as identity not null,
  project_id bigint not null,
  cluster text not null,
  name text not null,
  severity smallint not null,
  state text default 'detected'::text not null,
  is_present boolean default true not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint vulnerabilities_pkey PRIMARY KEY (id),
  constraint vulnerabilities_project_id_cluster_key UNIQUE (project_id, cluster),
  constraint vulnerabilities_severity_check CHECK (severity >= 0 AND severity <= 5),
  constraint vulnerabilities_state_check CHECK (state = ANY (ARRAY['detected'::text, 'dismissed'::text, 'resolved'::text]))
);
CREATE INDEX vulnerabilities_cluster_idx ON vulnerabilities USING btree (cluster);
CREATE INDEX vulnerabilities_project_id_severity_id_idx ON vulnerabilities USING btree (project_id, severity DESC, id);
CREATE INDEX vulnerabilities_project_id_state_severity_id_idx ON vulnerabilities USING btree (project_id, state, severity DESC, id);
comment on table vulnerabilities is 'Vulnerabilities of the dependencies of projects, one per cluster of advisories.';
comment on column vulnerabilities.is_present is 'Whether a dependency is affected now.';

create table vulnerability_state_changes (
  id bigint generated always as identity not null,
  vulnerability_id bigint not null,
  user_id bigint,
  from_state text not null,
  to_state text not null,
  comment text,
  created_at timestamp with time zone default now() not null,
  constraint vulnerability_state_changes_pkey PRIMARY KEY (id)
);
CREATE INDEX vulnerability_state_changes_user_id_idx ON vulnerability_state_changes USING btree (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX vulnerability_state_changes_vulnerability_id_id_idx ON vulnerability_state_changes USING btree (vulnerability_id, id);
comment on table vulnerability_state_changes is 'Changes of the state of vulnerabilities.';
comment on column vulnerability_state_changes.user_id is 'Null when a change of the dependencies made it, or when the user is gone.';

create table waiting_references (
  id bigint generated always as identity not null,
  project_id bigint,
  group_id bigint,
  relation text not null,
  row_id bigint not null,
  wanted json not null,
  constraint waiting_references_pkey PRIMARY KEY (id),
  constraint waiting_references_have_one_owner CHECK (num_nonnulls(project_id, group_id) = 1)
);
CREATE INDEX waiting_references_of_group ON waiting_references USING btree (group_id, id) WHERE group_id IS NOT NULL;
CREATE INDEX waiting_references_of_project ON waiting_references USING btree (project_id, id) WHERE project_id IS NOT NULL;
comment on table waiting_references is 'References of migrated records to records that have not arrived yet.';

create table web_sessions (
  id bigint generated always as identity not null,
  user_id bigint not null,
  token_digest bytea not null,
  previous_digest bytea,
  is_remembered boolean not null,
  created_at timestamp with time zone default now() not null,
  rotated_at timestamp with time zone default now() not null,
  used_at timestamp with time zone default now() not null,
  confirmed_at timestamp with time zone default now() not null,
  address inet,
  user_agent text,
  constraint web_sessions_pkey PRIMARY KEY (id),
  constraint web_sessions_previous_digest_key UNIQUE (previous_digest),
  constraint web_sessions_token_digest_key UNIQUE (token_digest)
);
CREATE INDEX web_sessions_by_use ON web_sessions USING btree (used_at);
CREATE INDEX web_sessions_by_user ON web_sessions USING btree (user_id, id);
comment on table web_sessions is 'Sessions of browsers.';
comment on column web_sessions.token_digest is 'SHA-256 of the cookie.';
comment on column web_sessions.previous_digest is 'Of the cookie before the last rotation, which is valid for another minute.';
comment on column web_sessions.confirmed_at is 'When the password was given last.';

create table wiki_pages (
  id bigint generated always as identity not null,
  wiki_id bigint not null,
  slug text not null,
  title text not null,
  format text not null,
  constraint wiki_pages_pkey PRIMARY KEY (id),
  constraint wiki_pages_wiki_id_slug_key UNIQUE (wiki_id, slug)
);
comment on table wiki_pages is 'Pages of wikis that events name. A renamed page keeps its row, and a deleted one its title.';

create table wikis (
  id bigint generated always as identity not null,
  project_id bigint,
  group_id bigint,
  storage text not null,
  default_branch text not null,
  size_bytes bigint default 0 not null,
  created_at timestamp with time zone default now() not null,
  constraint wikis_pkey PRIMARY KEY (id),
  constraint wikis_group_id_key UNIQUE (group_id),
  constraint wikis_project_id_key UNIQUE (project_id),
  constraint wikis_check CHECK (num_nonnulls(project_id, group_id) = 1),
  constraint wikis_size_bytes_check CHECK (size_bytes >= 0)
);
comment on table wikis is 'Wikis of projects and groups, created by the first write.';
comment on column wikis.size_bytes is 'On the disk; null until it is measured.';

alter table access_requests add constraint access_requests_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table access_requests add constraint access_requests_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table access_requests add constraint access_requests_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table access_token_bots add constraint access_token_bots_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table access_token_bots add constraint access_token_bots_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table access_token_bots add constraint access_token_bots_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table advisory_packages add constraint advisory_packages_advisory_id_fkey FOREIGN KEY (advisory_id) REFERENCES advisories(id) ON DELETE CASCADE;
alter table application_settings add constraint application_settings_team_group_id_fkey FOREIGN KEY (team_group_id) REFERENCES namespaces(id) ON DELETE SET NULL;
alter table approval_rule_groups add constraint approval_rule_groups_approval_rule_id_fkey FOREIGN KEY (approval_rule_id) REFERENCES approval_rules(id) ON DELETE CASCADE;
alter table approval_rule_groups add constraint approval_rule_groups_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table approval_rule_protected_branches add constraint approval_rule_protected_branches_approval_rule_id_fkey FOREIGN KEY (approval_rule_id) REFERENCES approval_rules(id) ON DELETE CASCADE;
alter table approval_rule_protected_branches add constraint approval_rule_protected_branches_protected_branch_id_fkey FOREIGN KEY (protected_branch_id) REFERENCES protected_branches(id) ON DELETE CASCADE;
alter table approval_rule_users add constraint approval_rule_users_approval_rule_id_fkey FOREIGN KEY (approval_rule_id) REFERENCES approval_rules(id) ON DELETE CASCADE;
alter table approval_rule_users add constraint approval_rule_users_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table approval_rules add constraint approval_rules_approval_project_rule_id_fkey FOREIGN KEY (approval_project_rule_id) REFERENCES approval_rules(id) ON DELETE SET NULL;
alter table approval_rules add constraint approval_rules_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table approval_rules add constraint approval_rules_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table award_emoji add constraint award_emoji_epic_id_fkey FOREIGN KEY (epic_id) REFERENCES epics(id) ON DELETE CASCADE;
alter table award_emoji add constraint award_emoji_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table award_emoji add constraint award_emoji_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table award_emoji add constraint award_emoji_note_id_fkey FOREIGN KEY (note_id) REFERENCES notes(id) ON DELETE CASCADE;
alter table award_emoji add constraint award_emoji_snippet_id_fkey FOREIGN KEY (snippet_id) REFERENCES snippets(id) ON DELETE CASCADE;
alter table award_emoji add constraint award_emoji_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table badges add constraint badges_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table badges add constraint badges_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table board_collapsed_lists add constraint board_collapsed_lists_list_id_fkey FOREIGN KEY (list_id) REFERENCES board_lists(id) ON DELETE CASCADE;
alter table board_collapsed_lists add constraint board_collapsed_lists_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table board_labels add constraint board_labels_board_id_fkey FOREIGN KEY (board_id) REFERENCES boards(id) ON DELETE CASCADE;
alter table board_labels add constraint board_labels_label_id_fkey FOREIGN KEY (label_id) REFERENCES labels(id) ON DELETE CASCADE;
alter table board_lists add constraint board_lists_board_id_fkey FOREIGN KEY (board_id) REFERENCES boards(id) ON DELETE CASCADE;
alter table board_lists add constraint board_lists_iteration_id_fkey FOREIGN KEY (iteration_id) REFERENCES iterations(id) ON DELETE CASCADE;
alter table board_lists add constraint board_lists_label_id_fkey FOREIGN KEY (label_id) REFERENCES labels(id) ON DELETE CASCADE;
alter table board_lists add constraint board_lists_milestone_id_fkey FOREIGN KEY (milestone_id) REFERENCES milestones(id) ON DELETE CASCADE;
alter table board_lists add constraint board_lists_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table boards add constraint boards_assignee_id_fkey FOREIGN KEY (assignee_id) REFERENCES users(id) ON DELETE SET NULL;
alter table boards add constraint boards_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table boards add constraint boards_iteration_id_fkey FOREIGN KEY (iteration_id) REFERENCES iterations(id) ON DELETE SET NULL;
alter table boards add constraint boards_milestone_id_fkey FOREIGN KEY (milestone_id) REFERENCES milestones(id) ON DELETE SET NULL;
alter table boards add constraint boards_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table bulk_import_entities add constraint bulk_import_entities_bulk_import_id_fkey FOREIGN KEY (bulk_import_id) REFERENCES bulk_imports(id) ON DELETE CASCADE;
alter table bulk_import_entities add constraint bulk_import_entities_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES namespaces(id) ON DELETE SET NULL;
alter table bulk_import_entities add constraint bulk_import_entities_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES bulk_import_entities(id) ON DELETE CASCADE;
alter table bulk_import_entities add constraint bulk_import_entities_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE SET NULL;
alter table bulk_import_entities add constraint bulk_import_entities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table bulk_import_failures add constraint bulk_import_failures_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES bulk_import_entities(id) ON DELETE CASCADE;
alter table bulk_import_people add constraint bulk_import_people_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES bulk_import_entities(id) ON DELETE CASCADE;
alter table bulk_import_relations add constraint bulk_import_relations_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES bulk_import_entities(id) ON DELETE CASCADE;
alter table bulk_imports add constraint bulk_imports_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table claimed_emails add constraint claimed_emails_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table clusters add constraint clusters_management_project_id_fkey FOREIGN KEY (management_project_id) REFERENCES projects(id) ON DELETE SET NULL;
alter table clusters add constraint clusters_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table code_files add constraint code_files_blob_id_fkey FOREIGN KEY (blob_id) REFERENCES code_blobs(id);
alter table code_files add constraint code_files_project_id_fkey FOREIGN KEY (project_id) REFERENCES code_indexes(project_id) ON DELETE CASCADE;
alter table code_indexes add constraint code_indexes_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table commit_statuses add constraint commit_statuses_pipeline_id_fkey FOREIGN KEY (pipeline_id) REFERENCES pipelines(id) ON DELETE CASCADE;
alter table commit_statuses add constraint commit_statuses_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table commit_statuses add constraint commit_statuses_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE SET NULL;
alter table custom_attributes add constraint custom_attributes_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table custom_attributes add constraint custom_attributes_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table custom_attributes add constraint custom_attributes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table declined_invitations add constraint declined_invitations_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table declined_invitations add constraint declined_invitations_inviter_id_fkey FOREIGN KEY (inviter_id) REFERENCES users(id) ON DELETE CASCADE;
alter table declined_invitations add constraint declined_invitations_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table dependency_files add constraint dependency_files_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table dependency_list_exports add constraint dependency_list_exports_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table dependency_list_exports add constraint dependency_list_exports_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table dependency_scans add constraint dependency_scans_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table deploy_key_projects add constraint deploy_key_projects_key_id_fkey FOREIGN KEY (key_id) REFERENCES keys(id) ON DELETE CASCADE;
alter table deploy_key_projects add constraint deploy_key_projects_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table deploy_tokens add constraint deploy_tokens_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table deploy_tokens add constraint deploy_tokens_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table deployment_approvals add constraint deployment_approvals_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON DELETE CASCADE;
alter table deployment_approvals add constraint deployment_approvals_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES protected_environment_rules(id) ON DELETE SET NULL;
alter table deployment_approvals add constraint deployment_approvals_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table deployment_merge_requests add constraint deployment_merge_requests_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON DELETE CASCADE;
alter table deployment_merge_requests add constraint deployment_merge_requests_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE;
alter table deployment_merge_requests add constraint deployment_merge_requests_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table deployments add constraint deployments_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE;
alter table deployments add constraint deployments_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table deployments add constraint deployments_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table emails add constraint emails_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table environments add constraint environments_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table epic_issues add constraint epic_issues_epic_id_fkey FOREIGN KEY (epic_id) REFERENCES epics(id) ON DELETE CASCADE;
alter table epic_issues add constraint epic_issues_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table epic_labels add constraint epic_labels_epic_id_fkey FOREIGN KEY (epic_id) REFERENCES epics(id) ON DELETE CASCADE;
alter table epic_labels add constraint epic_labels_label_id_fkey FOREIGN KEY (label_id) REFERENCES labels(id) ON DELETE CASCADE;
alter table epic_links add constraint epic_links_source_id_fkey FOREIGN KEY (source_id) REFERENCES epics(id) ON DELETE CASCADE;
alter table epic_links add constraint epic_links_target_id_fkey FOREIGN KEY (target_id) REFERENCES epics(id) ON DELETE CASCADE;
alter table epics add constraint epics_author_id_fkey FOREIGN KEY (author_id) REFERENCES users(id);
alter table epics add constraint epics_closed_by_id_fkey FOREIGN KEY (closed_by_id) REFERENCES users(id) ON DELETE SET NULL;
alter table epics add constraint epics_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table epics add constraint epics_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES epics(id) ON DELETE SET NULL;
alter table error_tracking_alerts add constraint error_tracking_alerts_error_id_fkey FOREIGN KEY (error_id) REFERENCES error_tracking_errors(id) ON DELETE CASCADE;
alter table error_tracking_bundles add constraint error_tracking_bundles_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table error_tracking_bundles add constraint error_tracking_bundles_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE SET NULL;
alter table error_tracking_bundles add constraint error_tracking_bundles_version_id_fkey FOREIGN KEY (version_id) REFERENCES error_tracking_versions(id) ON DELETE CASCADE;
alter table error_tracking_chunks add constraint error_tracking_chunks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table error_tracking_client_keys add constraint error_tracking_client_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table error_tracking_error_hours add constraint error_tracking_error_hours_error_id_fkey FOREIGN KEY (error_id) REFERENCES error_tracking_errors(id) ON DELETE CASCADE;
alter table error_tracking_error_tags add constraint error_tracking_error_tags_error_id_fkey FOREIGN KEY (error_id) REFERENCES error_tracking_errors(id) ON DELETE CASCADE;
alter table error_tracking_error_texts add constraint error_tracking_error_texts_error_id_fkey FOREIGN KEY (error_id) REFERENCES error_tracking_errors(id) ON DELETE CASCADE;
alter table error_tracking_error_users add constraint error_tracking_error_users_error_id_fkey FOREIGN KEY (error_id) REFERENCES error_tracking_errors(id) ON DELETE CASCADE;
alter table error_tracking_errors add constraint error_tracking_errors_assignee_id_fkey FOREIGN KEY (assignee_id) REFERENCES users(id) ON DELETE SET NULL;
alter table error_tracking_errors add constraint error_tracking_errors_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE SET NULL;
alter table error_tracking_errors add constraint error_tracking_errors_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table error_tracking_errors add constraint error_tracking_errors_resolved_by_id_fkey FOREIGN KEY (resolved_by_id) REFERENCES users(id) ON DELETE SET NULL;
alter table error_tracking_events add constraint error_tracking_events_error_id_fkey FOREIGN KEY (error_id) REFERENCES error_tracking_errors(id) ON DELETE CASCADE;
alter table error_tracking_events add constraint error_tracking_events_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table error_tracking_notices add constraint error_tracking_notices_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table error_tracking_rates add constraint error_tracking_rates_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table error_tracking_release_hours add constraint error_tracking_release_hours_release_id_fkey FOREIGN KEY (release_id) REFERENCES error_tracking_releases(id) ON DELETE CASCADE;
alter table error_tracking_release_users add constraint error_tracking_release_users_release_id_fkey FOREIGN KEY (release_id) REFERENCES error_tracking_releases(id) ON DELETE CASCADE;
alter table error_tracking_releases add constraint error_tracking_releases_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table error_tracking_sessions add constraint error_tracking_sessions_release_id_fkey FOREIGN KEY (release_id) REFERENCES error_tracking_releases(id) ON DELETE CASCADE;
alter table error_tracking_settings add constraint error_tracking_settings_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table error_tracking_source_maps add constraint error_tracking_source_maps_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES error_tracking_bundles(id) ON DELETE CASCADE;
alter table error_tracking_source_maps add constraint error_tracking_source_maps_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table error_tracking_versions add constraint error_tracking_versions_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table events add constraint events_author_id_fkey FOREIGN KEY (author_id) REFERENCES users(id);
alter table events add constraint events_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table feature_flag_clients add constraint feature_flag_clients_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table feature_flag_scopes add constraint feature_flag_scopes_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES feature_flag_strategies(id) ON DELETE CASCADE;
alter table feature_flag_strategies add constraint feature_flag_strategies_feature_flag_id_fkey FOREIGN KEY (feature_flag_id) REFERENCES feature_flags(id) ON DELETE CASCADE;
alter table feature_flag_strategies add constraint feature_flag_strategies_user_list_id_fkey FOREIGN KEY (user_list_id) REFERENCES feature_flag_user_lists(id) ON DELETE CASCADE;
alter table feature_flag_user_lists add constraint feature_flag_user_lists_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table feature_flags add constraint feature_flags_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table feature_gates add constraint feature_gates_feature_name_fkey FOREIGN KEY (feature_name) REFERENCES features(name) ON DELETE CASCADE;
alter table freeze_periods add constraint freeze_periods_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table geo_node_namespaces add constraint geo_node_namespaces_geo_node_id_fkey FOREIGN KEY (geo_node_id) REFERENCES geo_nodes(id) ON DELETE CASCADE;
alter table geo_node_namespaces add constraint geo_node_namespaces_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table geo_positions add constraint geo_positions_geo_node_id_fkey FOREIGN KEY (geo_node_id) REFERENCES geo_nodes(id) ON DELETE CASCADE;
alter table geo_statuses add constraint geo_statuses_geo_node_id_fkey FOREIGN KEY (geo_node_id) REFERENCES geo_nodes(id) ON DELETE CASCADE;
alter table gpg_keys add constraint gpg_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table group_approval_settings add constraint group_approval_settings_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table group_authorizations add constraint group_authorizations_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table group_authorizations add constraint group_authorizations_member_role_id_fkey FOREIGN KEY (member_role_id) REFERENCES member_roles(id) ON DELETE CASCADE;
alter table group_authorizations add constraint group_authorizations_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table group_links add constraint group_links_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table group_links add constraint group_links_invited_group_id_fkey FOREIGN KEY (invited_group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table group_links add constraint group_links_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table group_seats add constraint group_seats_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table hook_deliveries add constraint hook_deliveries_event_id_fkey FOREIGN KEY (event_id) REFERENCES hook_events(id) ON DELETE CASCADE;
alter table hook_deliveries add constraint hook_deliveries_hook_id_fkey FOREIGN KEY (hook_id) REFERENCES hooks(id) ON DELETE CASCADE;
alter table hooks add constraint hooks_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table hooks add constraint hooks_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table internal_ids add constraint internal_ids_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table internal_ids add constraint internal_ids_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table invitations add constraint invitations_created_by_id_fkey FOREIGN KEY (created_by_id) REFERENCES users(id) ON DELETE SET NULL;
alter table invitations add constraint invitations_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table invitations add constraint invitations_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table invitations add constraint invitations_role_fkey FOREIGN KEY (member_role_id) REFERENCES member_roles(id);
alter table issue_assignees add constraint issue_assignees_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table issue_assignees add constraint issue_assignees_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table issue_labels add constraint issue_labels_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table issue_labels add constraint issue_labels_label_id_fkey FOREIGN KEY (label_id) REFERENCES labels(id) ON DELETE CASCADE;
alter table issue_links add constraint issue_links_source_id_fkey FOREIGN KEY (source_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table issue_links add constraint issue_links_target_id_fkey FOREIGN KEY (target_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table issue_metric_images add constraint issue_metric_images_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table issue_user_agents add constraint issue_user_agents_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table issues add constraint issues_author_id_fkey FOREIGN KEY (author_id) REFERENCES users(id);
alter table issues add constraint issues_closed_by_id_fkey FOREIGN KEY (closed_by_id) REFERENCES users(id) ON DELETE SET NULL;
alter table issues add constraint issues_duplicated_to_id_fkey FOREIGN KEY (duplicated_to_id) REFERENCES issues(id) ON DELETE SET NULL;
alter table issues add constraint issues_iteration_id_fkey FOREIGN KEY (iteration_id) REFERENCES iterations(id) ON DELETE SET NULL;
alter table issues add constraint issues_milestone_id_fkey FOREIGN KEY (milestone_id) REFERENCES milestones(id) ON DELETE SET NULL;
alter table issues add constraint issues_moved_to_id_fkey FOREIGN KEY (moved_to_id) REFERENCES issues(id) ON DELETE SET NULL;
alter table issues add constraint issues_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table iteration_cadences add constraint iteration_cadences_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table iterations add constraint iterations_cadence_id_fkey FOREIGN KEY (cadence_id) REFERENCES iteration_cadences(id) ON DELETE CASCADE;
alter table iterations add constraint iterations_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table keys add constraint keys_created_by_id_fkey FOREIGN KEY (created_by_id) REFERENCES users(id) ON DELETE SET NULL;
alter table keys add constraint keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table label_priorities add constraint label_priorities_label_id_fkey FOREIGN KEY (label_id) REFERENCES labels(id) ON DELETE CASCADE;
alter table label_priorities add constraint label_priorities_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table labels add constraint labels_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table labels add constraint labels_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table lfs_locks add constraint lfs_locks_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table lfs_locks add constraint lfs_locks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table lfs_objects_projects add constraint lfs_objects_projects_lfs_object_id_fkey FOREIGN KEY (lfs_object_id) REFERENCES lfs_objects(id);
alter table lfs_objects_projects add constraint lfs_objects_projects_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table license_files add constraint license_files_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table member_approvals add constraint member_approvals_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table member_approvals add constraint member_approvals_member_role_id_fkey FOREIGN KEY (member_role_id) REFERENCES member_roles(id) ON DELETE SET NULL;
alter table member_approvals add constraint member_approvals_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table member_approvals add constraint member_approvals_requested_by_id_fkey FOREIGN KEY (requested_by_id) REFERENCES users(id) ON DELETE SET NULL;
alter table member_approvals add constraint member_approvals_reviewed_by_id_fkey FOREIGN KEY (reviewed_by_id) REFERENCES users(id) ON DELETE SET NULL;
alter table member_approvals add constraint member_approvals_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table member_roles add constraint member_roles_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table members add constraint members_created_by_id_fkey FOREIGN KEY (created_by_id) REFERENCES users(id) ON DELETE SET NULL;
alter table members add constraint members_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table members add constraint members_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table members add constraint members_role_fkey FOREIGN KEY (member_role_id, access_level) REFERENCES member_roles(id, base_access_level);
alter table members add constraint members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table merge_request_approvals add constraint merge_request_approvals_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table merge_request_approvals add constraint merge_request_approvals_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table merge_request_assignees add constraint merge_request_assignees_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table merge_request_assignees add constraint merge_request_assignees_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table merge_request_blocks add constraint merge_request_blocks_blocked_id_fkey FOREIGN KEY (blocked_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table merge_request_blocks add constraint merge_request_blocks_blocking_id_fkey FOREIGN KEY (blocking_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table merge_request_closed_issues add constraint merge_request_closed_issues_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table merge_request_closed_issues add constraint merge_request_closed_issues_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table merge_request_commits add constraint merge_request_commits_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table merge_request_context_commits add constraint merge_request_context_commits_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table merge_request_draft_notes add constraint merge_request_draft_notes_author_id_fkey FOREIGN KEY (author_id) REFERENCES users(id) ON DELETE CASCADE;
alter table merge_request_draft_notes add constraint merge_request_draft_notes_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table merge_request_labels add constraint merge_request_labels_label_id_fkey FOREIGN KEY (label_id) REFERENCES labels(id) ON DELETE CASCADE;
alter table merge_request_labels add constraint merge_request_labels_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table merge_request_reviewers add constraint merge_request_reviewers_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table merge_request_reviewers add constraint merge_request_reviewers_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table merge_request_versions add constraint merge_request_versions_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table merge_requests add constraint merge_requests_author_id_fkey FOREIGN KEY (author_id) REFERENCES users(id);
alter table merge_requests add constraint merge_requests_auto_merge_user_id_fkey FOREIGN KEY (auto_merge_user_id) REFERENCES users(id) ON DELETE SET NULL;
alter table merge_requests add constraint merge_requests_closed_by_id_fkey FOREIGN KEY (closed_by_id) REFERENCES users(id) ON DELETE SET NULL;
alter table merge_requests add constraint merge_requests_latest_version_id_fkey FOREIGN KEY (latest_version_id) REFERENCES merge_request_versions(id) ON DELETE SET NULL;
alter table merge_requests add constraint merge_requests_merge_user_id_fkey FOREIGN KEY (merge_user_id) REFERENCES users(id) ON DELETE SET NULL;
alter table merge_requests add constraint merge_requests_milestone_id_fkey FOREIGN KEY (milestone_id) REFERENCES milestones(id) ON DELETE SET NULL;
alter table merge_requests add constraint merge_requests_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table merge_requests add constraint merge_requests_source_project_id_fkey FOREIGN KEY (source_project_id) REFERENCES projects(id) ON DELETE SET NULL;
alter table milestones add constraint milestones_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table milestones add constraint milestones_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table namespaces add constraint namespaces_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON DELETE CASCADE;
alter table namespaces add constraint namespaces_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES namespaces(id) ON DELETE RESTRICT;
alter table notes add constraint notes_author_id_fkey FOREIGN KEY (author_id) REFERENCES users(id);
alter table notes add constraint notes_epic_id_fkey FOREIGN KEY (epic_id) REFERENCES epics(id) ON DELETE CASCADE;
alter table notes add constraint notes_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table notes add constraint notes_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table notes add constraint notes_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table notes add constraint notes_refers_to_epic_id_fkey FOREIGN KEY (refers_to_epic_id) REFERENCES epics(id) ON DELETE CASCADE;
alter table notes add constraint notes_refers_to_issue_id_fkey FOREIGN KEY (refers_to_issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table notes add constraint notes_refers_to_merge_request_id_fkey FOREIGN KEY (refers_to_merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table notes add constraint notes_refers_to_project_id_fkey FOREIGN KEY (refers_to_project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table notes add constraint notes_resolved_by_id_fkey FOREIGN KEY (resolved_by_id) REFERENCES users(id) ON DELETE SET NULL;
alter table notes add constraint notes_snippet_id_fkey FOREIGN KEY (snippet_id) REFERENCES snippets(id) ON DELETE CASCADE;
alter table notification_counts add constraint notification_counts_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table notification_counts add constraint notification_counts_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table notification_counts add constraint notification_counts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table notification_recipients add constraint notification_recipients_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table notification_settings add constraint notification_settings_email_id_fkey FOREIGN KEY (email_id) REFERENCES emails(id) ON DELETE SET NULL;
alter table notification_settings add constraint notification_settings_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table notification_settings add constraint notification_settings_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table notification_settings add constraint notification_settings_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table oauth_tokens add constraint oauth_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table open_issue_counts add constraint open_issue_counts_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table package_advisories add constraint package_advisories_advisory_id_fkey FOREIGN KEY (advisory_id) REFERENCES advisories(id) ON DELETE CASCADE;
alter table package_advisories add constraint package_advisories_package_version_id_fkey FOREIGN KEY (package_version_id) REFERENCES package_versions(id) ON DELETE CASCADE;
alter table password_links add constraint password_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table personal_access_tokens add constraint personal_access_tokens_family_id_fkey FOREIGN KEY (family_id) REFERENCES personal_access_tokens(id) ON DELETE CASCADE;
alter table personal_access_tokens add constraint personal_access_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table pipelines add constraint pipelines_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table pipelines add constraint pipelines_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE SET NULL;
alter table placeholder_memberships add constraint placeholder_memberships_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table placeholder_memberships add constraint placeholder_memberships_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table placeholder_memberships add constraint placeholder_memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES placeholders(user_id) ON DELETE CASCADE;
alter table placeholders add constraint placeholders_assignee_id_fkey FOREIGN KEY (assignee_id) REFERENCES users(id) ON DELETE SET NULL;
alter table placeholders add constraint placeholders_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table placeholders add constraint placeholders_proposed_by_id_fkey FOREIGN KEY (proposed_by_id) REFERENCES users(id) ON DELETE SET NULL;
alter table placeholders add constraint placeholders_proposed_user_id_fkey FOREIGN KEY (proposed_user_id) REFERENCES users(id) ON DELETE SET NULL;
alter table placeholders add constraint placeholders_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table project_authorizations add constraint project_authorizations_member_role_id_fkey FOREIGN KEY (member_role_id) REFERENCES member_roles(id) ON DELETE CASCADE;
alter table project_authorizations add constraint project_authorizations_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table project_authorizations add constraint project_authorizations_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table project_fetches add constraint project_fetches_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table project_stars add constraint project_stars_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table project_stars add constraint project_stars_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table projects add constraint projects_creator_id_fkey FOREIGN KEY (creator_id) REFERENCES users(id);
alter table projects add constraint projects_forked_from_id_fkey FOREIGN KEY (forked_from_id) REFERENCES projects(id) ON DELETE SET NULL;
alter table projects add constraint projects_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES namespaces(id) ON DELETE RESTRICT;
alter table protected_branch_access_levels add constraint protected_branch_access_levels_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table protected_branch_access_levels add constraint protected_branch_access_levels_protected_branch_id_fkey FOREIGN KEY (protected_branch_id) REFERENCES protected_branches(id) ON DELETE CASCADE;
alter table protected_branch_access_levels add constraint protected_branch_access_levels_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table protected_branches add constraint protected_branches_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table protected_branches add constraint protected_branches_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table protected_environment_rules add constraint protected_environment_rules_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table protected_environment_rules add constraint protected_environment_rules_protected_environment_id_fkey FOREIGN KEY (protected_environment_id) REFERENCES protected_environments(id) ON DELETE CASCADE;
alter table protected_environment_rules add constraint protected_environment_rules_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table protected_environments add constraint protected_environments_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table protected_environments add constraint protected_environments_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table protected_tags add constraint protected_tags_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table pull_mirrors add constraint pull_mirrors_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table pull_mirrors add constraint pull_mirrors_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE SET NULL;
alter table push_event_payloads add constraint push_event_payloads_event_id_fkey FOREIGN KEY (event_id) REFERENCES events(id) ON DELETE CASCADE;
alter table push_rules add constraint push_rules_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table push_rules add constraint push_rules_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table recorded_refs add constraint recorded_refs_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table recorded_wiki_refs add constraint recorded_wiki_refs_wiki_id_fkey FOREIGN KEY (wiki_id) REFERENCES wikis(id) ON DELETE CASCADE;
alter table redirects add constraint redirects_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table redirects add constraint redirects_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table reference_updates add constraint reference_updates_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE SET NULL;
alter table reference_updates add constraint reference_updates_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table reference_updates add constraint reference_updates_snippet_id_fkey FOREIGN KEY (snippet_id) REFERENCES snippets(id) ON DELETE CASCADE;
alter table reference_updates add constraint reference_updates_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE SET NULL;
alter table reference_updates add constraint reference_updates_wiki_id_fkey FOREIGN KEY (wiki_id) REFERENCES wikis(id) ON DELETE CASCADE;
alter table relation_export_files add constraint relation_export_files_export_id_fkey FOREIGN KEY (export_id) REFERENCES relation_exports(id) ON DELETE CASCADE;
alter table relation_exports add constraint relation_exports_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table relation_exports add constraint relation_exports_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table relation_exports add constraint relation_exports_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table release_evidences add constraint release_evidences_release_id_fkey FOREIGN KEY (release_id) REFERENCES releases(id) ON DELETE CASCADE;
alter table release_links add constraint release_links_release_id_fkey FOREIGN KEY (release_id) REFERENCES releases(id) ON DELETE CASCADE;
alter table release_milestones add constraint release_milestones_milestone_id_fkey FOREIGN KEY (milestone_id) REFERENCES milestones(id) ON DELETE CASCADE;
alter table release_milestones add constraint release_milestones_release_id_fkey FOREIGN KEY (release_id) REFERENCES releases(id) ON DELETE CASCADE;
alter table releases add constraint releases_author_id_fkey FOREIGN KEY (author_id) REFERENCES users(id);
alter table releases add constraint releases_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table remote_mirrors add constraint remote_mirrors_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table removed_issue_numbers add constraint removed_issue_numbers_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table repository_sizes add constraint repository_sizes_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table repository_storage_moves add constraint repository_storage_moves_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table repository_storage_moves add constraint repository_storage_moves_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table repository_storage_moves add constraint repository_storage_moves_snippet_id_fkey FOREIGN KEY (snippet_id) REFERENCES snippets(id) ON DELETE CASCADE;
alter table resource_iteration_events add constraint resource_iteration_events_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table resource_iteration_events add constraint resource_iteration_events_iteration_id_fkey FOREIGN KEY (iteration_id) REFERENCES iterations(id) ON DELETE CASCADE;
alter table resource_iteration_events add constraint resource_iteration_events_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table resource_label_events add constraint resource_label_events_epic_id_fkey FOREIGN KEY (epic_id) REFERENCES epics(id) ON DELETE CASCADE;
alter table resource_label_events add constraint resource_label_events_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table resource_label_events add constraint resource_label_events_label_id_fkey FOREIGN KEY (label_id) REFERENCES labels(id) ON DELETE SET NULL;
alter table resource_label_events add constraint resource_label_events_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table resource_label_events add constraint resource_label_events_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table resource_milestone_events add constraint resource_milestone_events_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table resource_milestone_events add constraint resource_milestone_events_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table resource_milestone_events add constraint resource_milestone_events_milestone_id_fkey FOREIGN KEY (milestone_id) REFERENCES milestones(id) ON DELETE CASCADE;
alter table resource_milestone_events add constraint resource_milestone_events_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table resource_state_events add constraint resource_state_events_epic_id_fkey FOREIGN KEY (epic_id) REFERENCES epics(id) ON DELETE CASCADE;
alter table resource_state_events add constraint resource_state_events_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table resource_state_events add constraint resource_state_events_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table resource_state_events add constraint resource_state_events_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table resource_weight_events add constraint resource_weight_events_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table resource_weight_events add constraint resource_weight_events_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table service_accounts add constraint service_accounts_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table service_accounts add constraint service_accounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table snippet_user_agents add constraint snippet_user_agents_snippet_id_fkey FOREIGN KEY (snippet_id) REFERENCES snippets(id) ON DELETE CASCADE;
alter table snippets add constraint snippets_author_id_fkey FOREIGN KEY (author_id) REFERENCES users(id);
alter table snippets add constraint snippets_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table snippets add constraint snippets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table subscriptions add constraint subscriptions_epic_id_fkey FOREIGN KEY (epic_id) REFERENCES epics(id) ON DELETE CASCADE;
alter table subscriptions add constraint subscriptions_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table subscriptions add constraint subscriptions_label_id_fkey FOREIGN KEY (label_id) REFERENCES labels(id) ON DELETE CASCADE;
alter table subscriptions add constraint subscriptions_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table subscriptions add constraint subscriptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table suggestions add constraint suggestions_note_id_fkey FOREIGN KEY (note_id) REFERENCES notes(id) ON DELETE CASCADE;
alter table timelogs add constraint timelogs_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table timelogs add constraint timelogs_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table timelogs add constraint timelogs_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table todos add constraint todos_access_request_id_fkey FOREIGN KEY (access_request_id) REFERENCES access_requests(id) ON DELETE SET NULL;
alter table todos add constraint todos_author_id_fkey FOREIGN KEY (author_id) REFERENCES users(id);
alter table todos add constraint todos_epic_id_fkey FOREIGN KEY (epic_id) REFERENCES epics(id) ON DELETE CASCADE;
alter table todos add constraint todos_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table todos add constraint todos_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table todos add constraint todos_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table todos add constraint todos_note_id_fkey FOREIGN KEY (note_id) REFERENCES notes(id) ON DELETE CASCADE;
alter table todos add constraint todos_placeholder_id_fkey FOREIGN KEY (placeholder_id) REFERENCES placeholders(user_id) ON DELETE CASCADE;
alter table todos add constraint todos_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table todos add constraint todos_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table uploads add constraint uploads_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table uploads add constraint uploads_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table uploads add constraint uploads_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE SET NULL;
alter table user_follows add constraint user_follows_followed_id_fkey FOREIGN KEY (followed_id) REFERENCES users(id) ON DELETE CASCADE;
alter table user_follows add constraint user_follows_follower_id_fkey FOREIGN KEY (follower_id) REFERENCES users(id) ON DELETE CASCADE;
alter table user_identities add constraint user_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table user_mentions add constraint user_mentions_epic_id_fkey FOREIGN KEY (epic_id) REFERENCES epics(id) ON DELETE CASCADE;
alter table user_mentions add constraint user_mentions_issue_id_fkey FOREIGN KEY (issue_id) REFERENCES issues(id) ON DELETE CASCADE;
alter table user_mentions add constraint user_mentions_merge_request_id_fkey FOREIGN KEY (merge_request_id) REFERENCES merge_requests(id) ON DELETE CASCADE;
alter table user_mentions add constraint user_mentions_note_id_fkey FOREIGN KEY (note_id) REFERENCES notes(id) ON DELETE CASCADE;
alter table user_mentions add constraint user_mentions_snippet_id_fkey FOREIGN KEY (snippet_id) REFERENCES snippets(id) ON DELETE CASCADE;
alter table user_mentions add constraint user_mentions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table user_statuses add constraint user_statuses_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table users add constraint users_created_by_id_fkey FOREIGN KEY (created_by_id) REFERENCES users(id) ON DELETE SET NULL;
alter table variables add constraint variables_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table variables add constraint variables_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table vulnerabilities add constraint vulnerabilities_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table vulnerability_state_changes add constraint vulnerability_state_changes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE SET NULL;
alter table vulnerability_state_changes add constraint vulnerability_state_changes_vulnerability_id_fkey FOREIGN KEY (vulnerability_id) REFERENCES vulnerabilities(id) ON DELETE CASCADE;
alter table waiting_references add constraint waiting_references_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table waiting_references add constraint waiting_references_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
alter table web_sessions add constraint web_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
alter table wiki_pages add constraint wiki_pages_wiki_id_fkey FOREIGN KEY (wiki_id) REFERENCES wikis(id) ON DELETE CASCADE;
alter table wikis add constraint wikis_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces(id) ON DELETE CASCADE;
alter table wikis add constraint wikis_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;

CREATE TRIGGER end_todos BEFORE DELETE ON access_requests FOR EACH ROW EXECUTE FUNCTION end_todos_of_access_request();
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE ON access_token_bots FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE ON appearance FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER keep_changed_picture AFTER UPDATE OF blob_key ON appearance_pictures FOR EACH ROW WHEN (old.blob_key <> new.blob_key) EXECUTE FUNCTION keep_unused_picture();
CREATE TRIGGER keep_deleted_picture AFTER DELETE ON appearance_pictures FOR EACH ROW EXECUTE FUNCTION keep_unused_picture();
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE ON appearance_pictures FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE ON application_settings FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER count_vote AFTER INSERT ON award_emoji FOR EACH ROW WHEN ((new.name = ANY (ARRAY['thumbsup'::text, 'thumbsdown'::text])) AND NOT arrives_counted()) EXECUTE FUNCTION keep_votes();
CREATE TRIGGER uncount_vote AFTER DELETE ON award_emoji FOR EACH ROW WHEN (old.name = ANY (ARRAY['thumbsup'::text, 'thumbsdown'::text])) EXECUTE FUNCTION keep_votes();
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE ON broadcast_messages FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER remove_dependencies_of_files AFTER DELETE ON dependency_files REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION remove_dependencies_of_files();
CREATE TRIGGER keep_unused_dependency_export AFTER DELETE ON dependency_list_exports REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION keep_unused_dependency_export();
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE OF user_id, is_primary, confirmed_at ON emails FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER keep_unused_source_map AFTER DELETE ON error_tracking_chunks REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION keep_unused_source_map();
CREATE TRIGGER keep_unused_source_map AFTER DELETE ON error_tracking_source_maps REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION keep_unused_source_map();
CREATE TRIGGER announce_events BEFORE INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION announce_events();
CREATE TRIGGER make_replica_due AFTER INSERT ON geo_events FOR EACH ROW EXECUTE FUNCTION make_replica_due();
alter table geo_events enable replica trigger make_replica_due;
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE ON group_authorizations FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER label_issues AFTER INSERT ON issue_labels REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_label_priority_of_issues();
CREATE TRIGGER unlabel_issues AFTER DELETE ON issue_labels REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_label_priority_of_issues();
CREATE TRIGGER keep_unused_image AFTER DELETE ON issue_metric_images REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION keep_unused_image();
CREATE TRIGGER count_deleted_issues AFTER DELETE ON issues REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_open_issues();
CREATE TRIGGER count_new_issues AFTER INSERT ON issues REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_open_issues();
CREATE TRIGGER keep_removed_issue_numbers AFTER DELETE ON issues REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION keep_removed_issue_numbers();
CREATE TRIGGER place_issue_last BEFORE INSERT ON issues FOR EACH ROW WHEN (new.relative_position IS NULL) EXECUTE FUNCTION place_issue_last();
CREATE TRIGGER recount_changed_issue AFTER UPDATE OF project_id, state, confidential ON issues FOR EACH ROW WHEN (old.project_id IS DISTINCT FROM new.project_id OR old.state IS DISTINCT FROM new.state OR old.confidential IS DISTINCT FROM new.confidential) EXECUTE FUNCTION recount_open_issue();
CREATE TRIGGER take_milestone_due_date BEFORE UPDATE OF milestone_id ON issues FOR EACH ROW WHEN (old.milestone_id IS DISTINCT FROM new.milestone_id) EXECUTE FUNCTION take_milestone_due_date();
CREATE TRIGGER take_milestone_due_date_first BEFORE INSERT ON issues FOR EACH ROW WHEN (new.milestone_id IS NOT NULL) EXECUTE FUNCTION take_milestone_due_date();
CREATE TRIGGER prioritise_issues AFTER INSERT OR DELETE OR UPDATE ON label_priorities FOR EACH ROW EXECUTE FUNCTION keep_label_priority_of_project();
CREATE TRIGGER record_change AFTER INSERT OR DELETE ON lfs_objects_projects FOR EACH ROW EXECUTE FUNCTION record_lfs_change();
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE ON licenses FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE ON member_roles FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER label_merge_requests AFTER INSERT ON merge_request_labels REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_label_priority_of_merge_requests();
CREATE TRIGGER unlabel_merge_requests AFTER DELETE ON merge_request_labels REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_label_priority_of_merge_requests();
CREATE TRIGGER take_milestone_due_date BEFORE UPDATE OF milestone_id ON merge_requests FOR EACH ROW WHEN (old.milestone_id IS DISTINCT FROM new.milestone_id) EXECUTE FUNCTION take_milestone_due_date();
CREATE TRIGGER take_milestone_due_date_first BEFORE INSERT ON merge_requests FOR EACH ROW WHEN (new.milestone_id IS NOT NULL) EXECUTE FUNCTION take_milestone_due_date();
CREATE TRIGGER give_milestone_due_date AFTER UPDATE OF due_date ON milestones FOR EACH ROW WHEN (old.due_date IS DISTINCT FROM new.due_date) EXECUTE FUNCTION give_milestone_due_date();
CREATE TRIGGER free_path AFTER INSERT ON namespaces FOR EACH ROW EXECUTE FUNCTION keep_old_path();
CREATE TRIGGER keep_changed_avatar AFTER UPDATE OF avatar_key ON namespaces FOR EACH ROW WHEN (old.avatar_key <> COALESCE(new.avatar_key, ''::text)) EXECUTE FUNCTION keep_unused_avatar();
CREATE TRIGGER keep_deleted_avatar AFTER DELETE ON namespaces FOR EACH ROW WHEN (old.avatar_key IS NOT NULL) EXECUTE FUNCTION keep_unused_avatar();
CREATE TRIGGER keep_old_path AFTER UPDATE OF full_path ON namespaces FOR EACH ROW WHEN (old.full_path <> new.full_path) EXECUTE FUNCTION keep_old_path();
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE ON namespaces FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER count_note AFTER INSERT ON notes FOR EACH ROW WHEN (NOT new.system AND NOT arrives_counted()) EXECUTE FUNCTION keep_user_notes_count();
CREATE TRIGGER hand_discussion_on AFTER DELETE ON notes FOR EACH ROW WHEN (old.starts_discussion) EXECUTE FUNCTION hand_discussion_on();
CREATE TRIGGER uncount_note AFTER DELETE ON notes FOR EACH ROW WHEN (NOT old.system) EXECUTE FUNCTION keep_user_notes_count();
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE OF user_id, scopes, token_digest, revoked, expires_at, impersonation ON personal_access_tokens FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE ON project_authorizations FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER count_stars AFTER INSERT OR DELETE ON project_stars FOR EACH ROW EXECUTE FUNCTION count_stars();
CREATE TRIGGER free_path AFTER INSERT ON projects FOR EACH ROW EXECUTE FUNCTION keep_old_path();
CREATE TRIGGER keep_changed_avatar AFTER UPDATE OF avatar_key ON projects FOR EACH ROW WHEN (old.avatar_key <> COALESCE(new.avatar_key, ''::text)) EXECUTE FUNCTION keep_unused_avatar();
CREATE TRIGGER keep_deleted_avatar AFTER DELETE ON projects FOR EACH ROW WHEN (old.avatar_key IS NOT NULL) EXECUTE FUNCTION keep_unused_avatar();
CREATE TRIGGER keep_old_path AFTER UPDATE OF full_path ON projects FOR EACH ROW WHEN (old.full_path <> new.full_path) EXECUTE FUNCTION keep_old_path();
CREATE TRIGGER keep_topics_of_changed BEFORE UPDATE OF topics, visibility ON projects FOR EACH ROW WHEN (old.topics <> new.topics OR old.visibility <> new.visibility AND new.topics <> '{}'::text[]) EXECUTE FUNCTION keep_topics();
CREATE TRIGGER keep_topics_of_deleted BEFORE DELETE ON projects FOR EACH ROW WHEN (old.topics <> '{}'::text[]) EXECUTE FUNCTION keep_topics();
CREATE TRIGGER keep_topics_of_new BEFORE INSERT ON projects FOR EACH ROW WHEN (new.topics <> '{}'::text[]) EXECUTE FUNCTION keep_topics();
CREATE TRIGGER keep_unused_repository AFTER DELETE ON projects REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION keep_unused_repository('project');
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE OF namespace_id, name, path, full_path, visibility, storage, default_branch, empty_repo, archived, marked_for_deletion_at, import_status, freeze_blocks_pushes, issues_access_level, repository_access_level, merge_requests_access_level, forking_access_level, snippets_access_level, environments_access_level, wiki_access_level, releases_access_level, feature_flags_access_level ON projects FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER record_change AFTER INSERT OR DELETE ON projects FOR EACH ROW EXECUTE FUNCTION record_repository_change();
CREATE TRIGGER record_filling AFTER UPDATE OF empty_repo ON projects FOR EACH ROW WHEN (old.empty_repo AND NOT new.empty_repo) EXECUTE FUNCTION record_repository_change();
CREATE TRIGGER record_other_place AFTER UPDATE OF storage ON projects FOR EACH ROW WHEN (old.storage <> new.storage) EXECUTE FUNCTION record_repository_change();
CREATE TRIGGER keep_references_in_place BEFORE INSERT ON reference_updates FOR EACH ROW EXECUTE FUNCTION keep_references_in_place();
CREATE TRIGGER record_change AFTER DELETE ON reference_updates FOR EACH ROW EXECUTE FUNCTION record_repository_change();
CREATE TRIGGER keep_deleted_relation_export AFTER DELETE ON relation_export_files FOR EACH ROW WHEN (old.blob_key IS NOT NULL) EXECUTE FUNCTION keep_unused_relation_export();
CREATE TRIGGER keep_replaced_relation_export AFTER UPDATE OF blob_key ON relation_export_files FOR EACH ROW WHEN (old.blob_key IS DISTINCT FROM new.blob_key AND old.blob_key IS NOT NULL) EXECUTE FUNCTION keep_unused_relation_export();
CREATE TRIGGER keep_what_moves BEFORE DELETE ON repository_storage_moves FOR EACH ROW EXECUTE FUNCTION keep_what_moves();
CREATE TRIGGER service_accounts_removed AFTER DELETE ON service_accounts FOR EACH ROW EXECUTE FUNCTION shut_out_service_account();
CREATE TRIGGER keep_unused_repository AFTER DELETE ON snippets REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION keep_unused_repository('snippet');
CREATE TRIGGER record_change AFTER INSERT OR DELETE ON snippets FOR EACH ROW EXECUTE FUNCTION record_repository_change();
CREATE TRIGGER record_other_place AFTER UPDATE OF storage ON snippets FOR EACH ROW WHEN (old.storage <> new.storage) EXECUTE FUNCTION record_repository_change();
CREATE TRIGGER keep_changed_avatar AFTER UPDATE OF avatar_key ON topics FOR EACH ROW WHEN (old.avatar_key <> COALESCE(new.avatar_key, ''::text)) EXECUTE FUNCTION keep_unused_avatar();
CREATE TRIGGER keep_deleted_avatar AFTER DELETE ON topics FOR EACH ROW WHEN (old.avatar_key IS NOT NULL) EXECUTE FUNCTION keep_unused_avatar();
CREATE TRIGGER record_change AFTER INSERT OR DELETE ON unused_blobs FOR EACH ROW EXECUTE FUNCTION record_blob_change();
CREATE TRIGGER keep_unused_upload AFTER DELETE ON uploads REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION keep_unused_upload();
CREATE TRIGGER keep_changed_avatar AFTER UPDATE OF avatar_key ON users FOR EACH ROW WHEN (old.avatar_key <> COALESCE(new.avatar_key, ''::text)) EXECUTE FUNCTION keep_unused_avatar();
CREATE TRIGGER keep_deleted_avatar AFTER DELETE ON users FOR EACH ROW WHEN (old.avatar_key IS NOT NULL) EXECUTE FUNCTION keep_unused_avatar();
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE OF username, name, email, commit_email, state, user_type, admin, external, confirmed_at, created_at, page_theme ON users FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER raise_rights_version AFTER INSERT OR DELETE OR UPDATE OF user_id, token_digest, confirmed_at ON web_sessions FOR EACH STATEMENT EXECUTE FUNCTION raise_rights_version();
CREATE TRIGGER keep_unused_repository AFTER DELETE ON wikis REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION keep_unused_repository('wiki');
CREATE TRIGGER keep_wiki_in_place BEFORE INSERT ON wikis FOR EACH ROW EXECUTE FUNCTION keep_wiki_in_place();
CREATE TRIGGER record_change AFTER INSERT OR DELETE ON wikis FOR EACH ROW EXECUTE FUNCTION record_repository_change();
CREATE TRIGGER record_other_place AFTER UPDATE OF storage ON wikis FOR EACH ROW WHEN (old.storage <> new.storage) EXECUTE FUNCTION record_repository_change();

create view current_license as
 SELECT id,
        CASE
            WHEN trial AND expired THEN 'free'::text
            WHEN plan = 'starter'::text THEN 'premium'::text
            ELSE plan
        END AS plan,
    user_limit,
    expires_at,
    expired,
    expired AND NOT trial AND block_changes_at IS NOT NULL AND CURRENT_DATE >= GREATEST(block_changes_at, expires_at + 14) AS blocks_changes
   FROM ( SELECT licenses.id,
            licenses.text,
            licenses.plan,
            licenses.licensee,
            licenses.add_ons,
            licenses.starts_at,
            licenses.expires_at,
            licenses.user_limit,
            licenses.trial,
            licenses.cloud,
            licenses.notify_admins_at,
            licenses.notified_at,
            licenses.block_changes_at,
            licenses.created_at,
            COALESCE(licenses.expires_at <= CURRENT_DATE, false) AS expired
           FROM licenses
          ORDER BY licenses.id DESC
         LIMIT 100) recent
  WHERE starts_at <= CURRENT_DATE
  ORDER BY expired, id DESC
 LIMIT 1;

-- One row of each, always there.
insert into rights_versions default values;
insert into application_settings default values;
insert into appearance default values;
insert into plan_limits default values;
insert into lfs_credential_keys (key)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
