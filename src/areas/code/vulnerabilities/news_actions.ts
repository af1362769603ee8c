/** Notifications of new vulnerabilities (docs/reference/vulnerabilities.md#telling-of-vulnerabilities). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { severities } from '../../../advisories/index.ts';
import { type Database, momentInJson, ofAnyLength, plainColumns, rowInJson } from '../../../db/index.ts';
import { Id, resource, Timestamp } from '../../../http/index.ts';
import {
  HookProject,
  HookRepository,
  presentProject,
  presentRepository,
  projectRow,
  type Sample,
  sampled,
} from '../../activity/hooks/index.ts';
import { notifying } from '../../activity/notifications/index.ts';
import { hookEvent, inProject, newsInProjects, newsOf, type Refs, tellEach } from '../../instance/hook_events/index.ts';
import { vulnerabilityPage } from './present.ts';

const high = severities.indexOf('high');

/** Per project at once: the first import of advisories can find hundreds. */
const maximumTold = 20;

export const vulnerabilityEvent = hookEvent({
  name: 'vulnerability',
  summary: 'A high or critical vulnerability was found',
  triggers: ['vulnerability_events'],
  snapshot: (news: Refs<{ id: number; project_id: number }>) => ({
    project: projectRow(news.project_id),
    vulnerability: rowInJson('vulnerabilities', news.id, {
      ...plainColumns('vulnerabilities', ['id', 'name', 'state', 'severity']),
      created_at: momentInJson('vulnerabilities.created_at'),
    }),
  }),
  body: resource('VulnerabilityHookBody', {
    object_kind: Type.Literal('vulnerability'),
    event_type: Type.Literal('vulnerability'),
    project: HookProject,
    repository: HookRepository,
    object_attributes: Type.Object({
      id: Id,
      project_id: Id,
      title: Type.String(),
      state: Type.String(),
      severity: Type.Enum(severities),
      created_at: Timestamp,
      url: Type.String({ format: 'uri' }),
    }),
  }),
}).presentedBy(({ project, vulnerability }, services) => ({
  object_kind: 'vulnerability',
  event_type: 'vulnerability',
  project: presentProject(project, services),
  repository: presentRepository(project, services),
  object_attributes: {
    ...vulnerability,
    project_id: project.id,
    title: vulnerability.name,
    severity: severities[vulnerability.severity]!,
    url: services.url + vulnerabilityPage(project.full_path, vulnerability.id),
  },
}));

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
  const rows = newsOf(
    { ...inProject, id: sql<number>`newest.id` },
    sql`
      from ${newest} join projects on projects.id = newest.project_id join namespaces on namespaces.id = projects.namespace_id`,
  );
  await tellEach(tx, vulnerabilityEvent, rows);
}

/** The most severe vulnerability of a project, as if it were new. */
export const sampleVulnerability: Sample = async (_services, { project_id }) =>
  sampled(
    vulnerabilityEvent,
    newsInProjects('vulnerabilities', {}, sql`project_id = ${project_id} order by severity desc, vulnerabilities.id`),
  );
