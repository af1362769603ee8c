/** Notifications of new vulnerabilities (docs/reference/vulnerabilities.md#telling-of-vulnerabilities). */
import { type RawBuilder, sql } from 'kysely';
import { severities } from '../../../advisories/index.ts';
import { type Database, momentInJson, ofAnyLength } from '../../../db/index.ts';
import { pageFacts, projectFacts, repositoryFacts, type Sample } from '../../activity/hooks/index.ts';
import { notifying } from '../../activity/notifications/index.ts';
import { tellEach } from '../../instance/hook_events/index.ts';
import { vulnerabilityPage } from './present.ts';

const high = severities.indexOf('high');

/** Per project at once: the first import of advisories can find hundreds. */
const maximumTold = 20;

/** The webhook facts of a row `news` with all columns of a vulnerability. */
const factsOf = (): RawBuilder<unknown> => sql`json_build_object(
  'object_kind', 'vulnerability', 'event_type', 'vulnerability', 'project', ${projectFacts(sql`news.project_id`)},
  'repository', ${repositoryFacts(sql`news.project_id`)}, 'object_attributes', json_build_object(
    'id', news.id, 'project_id', news.project_id, 'title', news.name, 'state', news.state,
    'severity', (array[${sql.join(severities.map((severity) => sql.lit(severity)))}])[news.severity + 1],
    'created_at', ${momentInJson('news.created_at')}, 'url', ${pageFacts(vulnerabilityPage, sql`news.project_id`, sql`news.id`)}))`;

/**
 * Notifies webhooks, and members by mail, of new vulnerabilities with a high or critical severity: the most severe ones of each project.
 * @param tx the transaction that adds them
 */
export async function tellOfVulnerabilities(tx: Database, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const newest = sql`(
    select * from (
      select vulnerabilities.*, row_number() over (partition by project_id order by severity desc, id) as place
        from vulnerabilities where id = any(${ofAnyLength(ids, 'bigint[]')}) and severity >= ${sql.lit(high)}) ranked
     where place <= ${sql.lit(maximumTold)}) newest`;
  await sql`with ${notifying(sql`
    select 'new_vulnerability' as event, 'Vulnerability' as target_type, id as target_id, null::bigint as actor_id, '{}'::bigint[] as user_ids
      from ${newest}`)} select`.execute(tx);
  await tellEach(tx, {
    trigger: 'vulnerability_events',
    to_system: false,
    rows: sql`
      select newest.*, namespaces.traversal_ids as group_ids
        from ${newest} join projects on projects.id = newest.project_id join namespaces on namespaces.id = projects.namespace_id`,
    facts: factsOf(),
  });
}

/** The most severe vulnerability of a project, as if it were new. */
export const sampleVulnerability: Sample = async (_services, { project_id }) => sql`
  (select ${factsOf()} from (
     select * from vulnerabilities where project_id = ${project_id} order by severity desc, id limit 1) news)`;
