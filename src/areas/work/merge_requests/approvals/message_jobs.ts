/** The note in which the bot of security policies says what they ask for, edited in place (docs/reference/security_policies.md#messages). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { theMergeRequest } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { Id, type Services } from '../../../../http/index.ts';
import { job } from '../../../../jobs/index.ts';
import { isReached, policyMessages } from '../../../code/security_policies/index.ts';
import { botNoteOn, setBotNote } from '../../../conversation/notes/index.ts';
import { securityPolicyBot } from '../../../people/users/index.ts';
import { messageOf } from './message_rules.ts';
import { approvalStateOf, basisOf } from './state_git.ts';

/** How often a message is written again because something is not known yet. */
const mostTries = 20;
const pause_s = 30;
/** The most merge requests whose messages are written anew when policies change; the others follow with their next change. */
const mostAtOnce = 1_000;

export const writePolicyMessage = job('write_policy_message', {
  input: { merge_request_id: Id, tries: Type.Integer() },
  retries: 5,
  run: async ({ input: { merge_request_id, tries }, ...services }) => {
    if ((await writeMessage(services, merge_request_id)) || tries >= mostTries) return;
    const again = { merge_request_id, tries: tries + 1 };
    await writePolicyMessage.enqueue(services.db, again, { key: String(merge_request_id), after_s: pause_s });
  },
});

/** Enqueued when policies have changed. */
export const writePolicyMessages = policyMessages.runBy(async ({ input: { policy_project_id }, db }) => {
  const { rows } = await sql<{ merge_request_id: number; tries: number }>`
    select shown.id as merge_request_id, 0 as tries from merge_requests shown join projects on projects.id = shown.project_id
      join namespaces place on place.id = projects.namespace_id
     where shown.state = 'opened' and exists (
             select from security_policy_links linked
              where linked.policy_project_id = ${policy_project_id} and (linked.project_id = projects.id or linked.group_id = any(place.traversal_ids)))
     order by shown.updated_at desc limit ${sql.lit(mostAtOnce)}`.execute(db);
  await writePolicyMessage.enqueueEach(db, rows);
});

/**
 * Writes the message soon, if policies may apply to the project.
 * @param tx the transaction that changes the merge request
 */
export async function tellOfPolicies(tx: Database, merge_request_id: number): Promise<void> {
  const { rows } = await sql`
    select from merge_requests where id = ${merge_request_id} and ${isReached(sql`merge_requests.project_id`)}`.execute(
    tx,
  );
  if (rows.length > 0)
    await writePolicyMessage.enqueue(tx, { merge_request_id, tries: 0 }, { key: String(merge_request_id) });
}

/**
 * Judged while the merge request is locked, so that of two runs the later one writes what is true then.
 * @returns whether everything is known that the message depends on
 */
async function writeMessage(services: Pick<Services, 'db' | 'storages' | 'url'>, id: number): Promise<boolean> {
  const { db, storages } = services;
  const there = db.selectFrom('merge_requests').select('id').where('id', '=', id).where('state', '=', 'opened');
  if (!(await there.executeTakeFirst())) return true;
  const on = theMergeRequest(id);
  const isWanted = (await basisOf(db, id)).policies.some(({ policy }) => policy.tells);
  if (!isWanted && !(await botNoteOn(db, on))) return true;
  const author_id = await securityPolicyBot(services);
  return await db.transaction().execute(async (tx) => {
    const locked = tx.selectFrom('merge_requests').select('state').where('id', '=', id).forNoKeyUpdate();
    if ((await locked.executeTakeFirst())?.state !== 'opened') return true;
    const { in_effect } = await approvalStateOf({ db: tx, storages }, id);
    const note = await botNoteOn(tx, on);
    const body = messageOf(in_effect, note !== undefined);
    if (body !== undefined) await setBotNote(tx, on, author_id, note, body);
    return in_effect.every(({ policy }) => policy === undefined || !policy.tells || policy.is_known);
  });
}
