/** What follows when policies end, because their project is archived, deleted or moved (docs/reference/security_policies.md#link). */
import { type RawBuilder, sql } from 'kysely';
import { countsToday, levels, type Owner } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { retryWaitingIn } from '../commit_statuses/actions.ts';
import { type EndOfPolicies, tellOfPolicyEnd } from './mail_jobs.ts';
import { inForce, linkedGroups } from './queries.ts';
import { forgetFile, wakeReached } from './reading_actions.ts';

/** The most people told. */
const maximumTold = 100;
/** The most places that a message names. */
const maximumPlaces = 20;

interface Ended {
  policy_project_id: number;
  policy_path: string;
  /** The project or group that was linked. */
  project_id: number | null;
  group_id: number | null;
  full_path: string;
}

/** Mails for the Owners of what was linked, one for each of them and each policy project. */
async function tellOwners(tx: Database, ended: readonly Ended[], why: EndOfPolicies['why']): Promise<void> {
  if (ended.length === 0) return;
  const { rows } = await sql<Omit<EndOfPolicies, 'why'>>`
    select user_id, policy_project_id, policy_path, to_json((array_agg(json_build_object('full_path', full_path, 'is_group', group_id is not null) order by full_path))[1:${sql.lit(maximumPlaces)}]) as places,
           (extract(epoch from now()) * 1000)::bigint as ended_at
      from jsonb_to_recordset(${JSON.stringify(ended)}::jsonb) ended (policy_project_id bigint, policy_path text, project_id bigint, group_id bigint, full_path text)
           cross join lateral (
             select user_id from project_authorizations held
              where held.project_id = ended.project_id and access_level >= ${levels.owner} and ${countsToday()}
             union select user_id from group_authorizations held
              where held.group_id = ended.group_id and access_level >= ${levels.owner} and ${countsToday()}) owners
     group by user_id, policy_project_id, policy_path order by user_id, policy_project_id limit ${sql.lit(maximumTold)}`.execute(
    tx,
  );
  await tellOfPolicyEnd.enqueueEach(
    tx,
    rows.map((row) => ({ ...row, why })),
  );
}

const endedColumns = sql`linked.policy_project_id, policies.full_path as policy_path, linked.project_id, linked.group_id,
  coalesce((select full_path from projects where id = linked.project_id), (select full_path from namespaces where id = linked.group_id)) as full_path`;

/** A predicate: a place, given by expressions, is what is archived, deleted or moved, or in it. */
const isWithin = ({ project_id, group_id }: Owner, project: RawBuilder<unknown>, groups: RawBuilder<unknown>) =>
  project_id === null ? sql`${groups} @> ${[group_id]}::bigint[]` : sql`${project} = ${project_id}`;

/**
 * Says that the policies in a project or group end, to the Owners of what is linked to them from elsewhere. To be called before the change, while they are in force.
 * @param tx the transaction of the change
 */
export async function endPolicies(tx: Database, ending: Owner, why: 'archived' | 'deleted'): Promise<void> {
  const { rows } = await sql<Ended>`
    select ${endedColumns}
      from security_policy_links linked join projects policies on policies.id = linked.policy_project_id join namespaces around on around.id = policies.namespace_id
     where ${isWithin(ending, sql`policies.id`, sql`around.traversal_ids`)}
       and not coalesce(${isWithin(ending, sql`linked.project_id`, linkedGroups)}, false)
       and exists (select from ${inForce(sql`around.traversal_ids[1]`)})`.execute(tx);
  for (const id of new Set(rows.map(({ policy_project_id }) => policy_project_id))) await wakeReached(tx, id);
  await tellOwners(tx, rows, why);
}

/**
 * Ends the links that a move leaves between two top-level groups.
 * @param tx the transaction of the move, after it
 * @param moved the project or group that was moved
 */
export async function endPoliciesAfterMove(tx: Database, moved: Owner): Promise<void> {
  const { rows } = await sql<Ended & { id: number }>`
    select linked.id, ${endedColumns}
      from security_policy_links linked join projects policies on policies.id = linked.policy_project_id join namespaces around on around.id = policies.namespace_id
     where (${isWithin(moved, sql`policies.id`, sql`around.traversal_ids`)} or ${isWithin(moved, sql`linked.project_id`, linkedGroups)})
       and around.traversal_ids[1] <> ${linkedGroups}[1]`.execute(tx);
  const policy_ids = [...new Set(rows.map(({ policy_project_id }) => policy_project_id))];
  for (const id of policy_ids) await wakeReached(tx, id);
  await sql`delete from security_policy_links where id = any(${rows.map(({ id }) => id)}::bigint[])`.execute(tx);
  for (const id of policy_ids) await forgetFile(tx, id);
  // What the groups above asked for is not asked for any more.
  await retryWaitingIn(
    tx,
    sql`select projects.id from projects join namespaces place on place.id = projects.namespace_id where ${isWithin(moved, sql`projects.id`, sql`place.traversal_ids`)}`,
  );
  await tellOwners(tx, rows, 'moved');
}
