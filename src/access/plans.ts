/** The plan in force: that of the current license (the view `current_license`). A change applies at once, in every process. */
import { type Kysely, sql } from 'kysely';
import { type DB, dataLoader } from '../db/index.ts';
import type { Plan } from '../http/plans.ts';
import { keptWithRights } from './rights_version.ts';

/** The plan in force, as an expression for any statement. */
export const planInForce = sql<Plan>`coalesce((select plan from current_license), 'free')`;

const trial = sql`current_license join licenses on licenses.id = current_license.id and licenses.trial and not current_license.expired`;

/** The trial in force, as expressions for any statement: whether there is one, and the day it ends. */
export const licensedTrial = {
  isTrial: sql<boolean>`exists (select from ${trial})`,
  endsOn: sql<string | null>`(select current_license.expires_at from ${trial})`,
};

/** Whether the license expired so long ago that projects cannot be changed, as an expression for any statement. */
export const changesAreBlocked = sql<boolean>`coalesce((select blocks_changes from current_license), false)`;

/** The plan in force, for jobs and commands. Handlers receive it, and statements read it as `planInForce`. */
export async function currentPlan(db: Kysely<DB>): Promise<Plan> {
  const { rows } = await sql<{ plan: Plan }>`select ${planInForce} as plan`.execute(db);
  return rows[0]!.plan;
}

const everyone = 'everyone';

/** The same for concurrent requests, which share a query. */
const planOfRequests = keptWithRights(
  'plan',
  (question: string) => question,
  dataLoader<string, { plan: Plan }>(
    (question) => question,
    async (db) => new Map([[everyone, { plan: await currentPlan(db) }]]),
  ),
);

/**
 * The plan in force for an anonymous request. With a token, the plan comes with the credential.
 * @param version the version of rights that counts for the request
 */
export const planForAnonymous = async (db: Kysely<DB>, version: string): Promise<Plan> =>
  (await planOfRequests(db, everyone, version))!.plan;
