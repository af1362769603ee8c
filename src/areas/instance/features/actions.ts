/** Setting the gates of features. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { badRequest } from '../../../http/index.ts';
import { type GateRow, type PercentageKey, readableGates, stateOf } from '../experiments/gate_rules.ts';
import { gatesOf } from '../experiments/queries.ts';
import type { Targets } from './target_queries.ts';

/** The new state: for all or for targets; a percentage applies to all only. */
export type Setting = boolean | { key: PercentageKey; percentage: number };

const refused = (reason: string) => badRequest(`400 Bad request - ${reason}`);

/**
 * Parses a value. As in the public API, 0 is off and 100 is on, whatever the gate.
 * @param value as given
 * @param key the gate of a percentage
 * @throws ApiError 400 for any other text
 */
export function settingFrom(name: string, value: string, key: PercentageKey = 'percentage_of_time'): Setting {
  if (value === 'true' || value === '100') return true;
  if (value === 'false' || value === '0') return false;
  if (!/^[1-9]\d?$/.test(value))
    throw refused(`Cannot set '${name}' to "${value}": true, false or a percentage is expected`);
  return { key, percentage: Number(value) };
}

/**
 * Changes the gates of a feature, which may be new.
 * @param targets the actors and groups to change; without any, everyone
 * @throws ApiError 400 where the change would have no effect
 */
export async function setFeature(db: Database, name: string, setting: Setting, targets: Targets): Promise<void> {
  const gates = [
    ...targets.actors.map((value) => ({ key: 'actors', value })),
    ...targets.groups.map((value) => ({ key: 'groups', value })),
  ];
  await db.transaction().execute(async (tx) => {
    // Locks the row, so that changes to a feature are serialised and none loses its row in the meantime.
    await tx
      .insertInto('features')
      .values({ name })
      .onConflict((there) => there.column('name').doUpdateSet({ name }))
      .execute();
    if (typeof setting !== 'boolean') await setPercentage(tx, name, setting);
    else if (gates.length === 0) await setForAll(tx, name, setting);
    else await setForSome(tx, name, setting, gates);
  });
}

/** Deletes all gates of the feature. */
async function setForAll(tx: Database, name: string, isOn: boolean): Promise<void> {
  await tx.deleteFrom('feature_gates').where('feature_name', '=', name).execute();
  if (isOn)
    await tx.insertInto('feature_gates').values({ feature_name: name, key: 'boolean', value: 'true' }).execute();
}

async function setForSome(tx: Database, name: string, isOn: boolean, gates: GateRow[]): Promise<void> {
  const [keys, values] = [gates.map(({ key }) => key), gates.map(({ value }) => value)];
  const rows = sql`unnest(${keys}::text[], ${values}::text[]) given(key, value)`;
  await (isOn
    ? sql`insert into feature_gates (feature_name, key, value) select ${name}, key, value from ${rows} on conflict do nothing`
    : sql`delete from feature_gates gates using ${rows}
           where feature_name = ${name} and gates.key = given.key and gates.value = given.value`
  ).execute(tx);
}

async function setPercentage(
  tx: Database,
  name: string,
  { key, percentage }: Exclude<Setting, boolean>,
): Promise<void> {
  const stored = (await gatesOf(tx, [name])).get(name) ?? [];
  if (stateOf(readableGates(stored)) === 'on')
    throw refused(`Cannot enable ${key.replaceAll('_', ' ')} for a fully-enabled flag`);
  await tx.deleteFrom('feature_gates').where('feature_name', '=', name).where('key', '=', key).execute();
  await tx
    .insertInto('feature_gates')
    .values({ feature_name: name, key, value: String(percentage) })
    .execute();
}
