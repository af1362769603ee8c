/** The plan in force: that of the licence that decides (the view `current_license`). Nothing of it is kept, so that a change counts at once, in every process. */
import { type Kysely, sql } from 'kysely';
import { type DB, inBatches } from '../db/index.ts';
import type { Plan } from '../http/plans.ts';

/** The plan in force, as an expression for any statement. */
export const planInForce = sql<Plan>`coalesce((select plan from current_license), 'free')`;

/** Whether the licence has been over for so long that no project can be changed, as an expression for any statement. */
export const changesAreBlocked = sql<boolean>`coalesce((select blocks_changes from current_license), false)`;

/** The plan in force, for jobs and commands; a handler is given it, and a statement reads it as `planInForce`. */
export async function currentPlan(db: Kysely<DB>): Promise<Plan> {
  const { rows } = await sql<{ plan: Plan }>`select ${planInForce} as plan`.execute(db);
  return rows[0]!.plan;
}

const everyone = 'everyone';

/** The same for requests, of which many ask at once. */
const planOfRequests = inBatches<string, Plan>(
  (question) => question,
  async (db) => new Map([[everyone, await currentPlan(db)]]),
);

/** The plan in force for a request whose caller is unknown: with a token, it comes with the credential. */
export const planForAnonymous = async (db: Kysely<DB>): Promise<Plan> => (await planOfRequests(db, everyone))!;
