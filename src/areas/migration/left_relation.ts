/**
 * The counts of records of a project or group that are not exported, for the report of a migration
 * (docs/reference/relations_export.md#webhooks_count).
 */
import { type RawBuilder, sql } from 'kysely';
import { type RecordKind, type Relation, shown } from '../../relations/index.ts';

const ofProject = (table: string, which = sql`true`) =>
  sql`(select count(*) from ${sql.table(table)} where project_id = projects.id and ${which})`;
const ofGroup = (table: string, which = sql`true`) =>
  sql`(select count(*) from ${sql.table(table)} where group_id = namespaces.id and ${which})`;

/** Records that contain secrets, and records that users have requested or started for themselves. */
const common = (count: typeof ofProject) => ({
  hooks: count('hooks', sql`event_type_filters is null`),
  variables: count('variables'),
  deploy_tokens: count('deploy_tokens'),
  access_tokens: count('access_token_bots'),
  invitations: count('invitations'),
  access_requests: count('access_requests'),
});

const left = (kind: Pick<RecordKind, 'table' | 'owner'>, counts: Record<string, RawBuilder<unknown>>): Relation => ({
  name: 'webhooks_count',
  kind: {
    ...kind,
    members: Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, shown(count)])),
    stays: {},
  },
});

export const leftInProject = left(
  { table: 'projects', owner: { project: 'id' } },
  {
    ...common(ofProject),
    deploy_keys: ofProject('deploy_key_projects'),
    triggers: ofProject('pipeline_triggers'),
    client_keys: ofProject('error_tracking_client_keys'),
    errors: ofProject('error_tracking_errors'),
    push_mirrors: ofProject('remote_mirrors'),
    pull_mirrors: ofProject('pull_mirrors'),
    metric_images: sql`(select count(*) from issue_metric_images join issues on issues.id = issue_id where issues.project_id = projects.id)`,
    draft_notes: sql`(select count(*) from merge_request_draft_notes join merge_requests on merge_requests.id = merge_request_id
                       where merge_requests.project_id = projects.id)`,
    stars: ofProject('project_stars'),
    events: sql`(select count(*) from events where project_id = projects.id
                    and coalesce(target_type, '') not in ('Issue', 'MergeRequest', 'Note', 'DiffNote', 'DiscussionNote'))`,
  },
);

export const leftInGroup = left(
  { table: 'namespaces', owner: { group: 'id' } },
  {
    ...common(ofGroup),
    service_accounts: ofGroup('service_accounts'),
    member_roles: ofGroup('member_roles'),
    audit_event_streaming_destinations: ofGroup('hooks', sql`event_type_filters is not null`),
  },
);
