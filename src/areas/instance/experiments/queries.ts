/** Queries for gates. Changes take effect immediately, in every process. */
import { sql } from 'kysely';
import { isTeamMember } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { definitions } from './definitions/index.ts';
import { type Actor, type GateRow, isOpen, readableGates } from './gate_rules.ts';

/** The name of an experiment; an unknown one does not compile. */
export type ExperimentName = (typeof definitions)[number]['name'];

/**
 * Whether an experiment is on for an actor. The answer stays the same, unless the gates change or one of them is a
 * percentage of time. Code under an experiment must not fail because of it: if its gates cannot be read it is off, and
 * `GET /experiments` reports this.
 * @param actor the participant, e.g. `User:5`
 */
export async function isExperimentOn(db: Database, name: ExperimentName, actor: Actor): Promise<boolean> {
  const rows = await db
    .selectFrom('feature_gates')
    .select(['key', 'value'])
    .where('feature_name', '=', name)
    .where((row) => row.or([row('key', '<>', 'actors'), row('value', '=', actor)]))
    .execute();
  const gates = readableGates(rows);
  const groups = gates.groups.includes('team_members') && (await isOneOfTheTeam(db, actor)) ? ['team_members'] : [];
  return isOpen(gates, name, actor, groups, Math.random());
}

const isOneOfTheTeam = async (db: Database, actor: Actor): Promise<boolean> =>
  actor.startsWith('User:') && isTeamMember(db, Number(actor.slice('User:'.length)));

/** The stored gates of features that were set, by name. */
export async function gatesOf(db: Database, names: readonly string[]): Promise<Map<string, GateRow[]>> {
  const rows = await db
    .selectFrom('features')
    .leftJoin('feature_gates', 'feature_gates.feature_name', 'features.name')
    .select(['features.name', 'feature_gates.key', 'feature_gates.value'])
    .where(sql<boolean>`features.name = any(${names}::text[])`)
    .orderBy('features.name')
    .execute();
  const gates = new Map<string, GateRow[]>();
  for (const { name, key, value } of rows) {
    if (!gates.has(name)) gates.set(name, []);
    if (key !== null && value !== null) gates.get(name)!.push({ key, value });
  }
  return gates;
}
