/** Adding and changing hooks (docs/reference/hooks.md). */
import type { Insertable } from 'kysely';
import type { Owner } from '../../../access/index.ts';
import { type Database, type DB, stamped, takeTurn } from '../../../db/index.ts';
import { checkExpression, InvalidExpression } from '../../../expressions/index.ts';
import { ApiError, found, invalid, type Services } from '../../../http/index.ts';
import { urlReasons } from '../../../outbound/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { limitsOf } from '../../instance/plan_limits/index.ts';
import { type HookRow, hooksOf, noSecrets, sealed, unsealed } from './queries.ts';
import {
  filledUrl,
  type HookSecrets,
  maximumCustom,
  maximumLengths,
  maximumSystemHooks,
  type OwnerKind,
  variablesIn,
  wildcardSource,
} from './rules.ts';

interface Pair {
  key: string;
  value: string;
}

/** The given values of a hook. Flags and plain columns have the names of the columns. */
export interface HookChanges
  extends Partial<
    Omit<Insertable<DB['hooks']>, 'id' | 'project_id' | 'group_id' | 'secrets' | 'url' | 'created_at' | 'updated_at'>
  > {
  url?: string;
  /** Null and empty text remove it. */
  token?: string | null;
  signing_token?: string | null;
  url_variables?: readonly Pair[];
  custom_headers?: readonly Pair[];
}

export const refusedTexts = {
  url: 'Invalid url given',
  filter: 'Invalid branch filter given',
  many: (kind: OwnerKind, most: number | string) => `Maximum number of ${kind} hooks (${most}) exceeded`,
  custom: `Maximum number of entries (${maximumCustom}) exceeded`,
  variable: 'Illegal key in use',
};

/** A 422 in the form of these endpoints. */
const refused = (text: string) => new ApiError(422, { message: text, error: text });

const kindOf = ({ project_id, group_id }: Owner): OwnerKind =>
  project_id !== null ? 'project' : group_id !== null ? 'group' : 'instance';

/**
 * Whether hooks may have addresses in the local network: one setting applies to system hooks, and another to all
 * others.
 */
export async function mayBeLocal(db: Database, owner: Owner): Promise<boolean> {
  const settings = await settingsOf(db);
  return kindOf(owner) === 'instance'
    ? settings.allow_local_requests_from_system_hooks
    : settings.allow_local_requests_from_web_hooks_and_services;
}

/** @throws ApiError 422 for an address that cannot be requested */
export async function checkUrl(
  db: Database,
  owner: Owner,
  url: string,
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const isComplete = variablesIn(url).every((name) => Object.hasOwn(variables, name));
  const filled = filledUrl(url, variables);
  if (!isComplete || filled.length > maximumLengths.url || urlReasons(filled, await mayBeLocal(db, owner)).length > 0)
    throw refused(refusedTexts.url);
}

/** @throws ApiError 422 for a filter that does not compile */
async function checkFilter(strategy: string, filter: string | null): Promise<void> {
  if (!filter || strategy === 'all_branches') return;
  try {
    if (filter.length > maximumLengths.filter) throw new InvalidExpression('too long');
    await checkExpression({ source: strategy === 'regex' ? filter : wildcardSource(filter) });
  } catch (error) {
    if (error instanceof InvalidExpression) throw refused(refusedTexts.filter);
    throw error;
  }
}

const entriesOf = (pairs: readonly Pair[]): Record<string, string> => {
  if (pairs.length > maximumCustom) throw invalid({ base: [refusedTexts.custom] });
  return Object.fromEntries(pairs.map(({ key, value }) => [key, value]));
};

/** The secrets after a change. If the address changes, the secrets of the old one are dropped. */
export function secretsAfter(
  before: HookSecrets,
  { token, signing_token, url_variables, custom_headers }: HookChanges,
): HookSecrets {
  const one = (name: 'token' | 'signing_token', given: string | null | undefined) => {
    const value = given === undefined ? before[name] : given;
    return value ? { [name]: value } : {};
  };
  return {
    ...one('token', token),
    ...one('signing_token', signing_token),
    url_variables: url_variables ? entriesOf(url_variables) : before.url_variables,
    custom_headers: custom_headers ? entriesOf(custom_headers) : before.custom_headers,
  };
}

const columnsFrom = ({
  url: _url,
  token: _token,
  signing_token: _signing,
  url_variables: _variables,
  custom_headers: _headers,
  ...columns
}: HookChanges) => columns;

/** Serialized, so that two concurrent additions cannot exceed the limit together. */
async function refuseTooMany(tx: Database, owner: Owner): Promise<void> {
  const kind = kindOf(owner);
  const name = `hooks ${owner.project_id ?? ''} ${owner.group_id ?? ''}`;
  await takeTurn(tx, name);
  const most = kind === 'instance' ? maximumSystemHooks : (await limitsOf(tx))[`${kind}_hooks`];
  if (kind !== 'instance' && most === 0) return;
  const rows = hooksOf(tx, owner).clearSelect().select('id').limit(most);
  if ((await rows.execute()).length >= most) throw invalid({ base: [refusedTexts.many(kind, most)] });
}

/** System hooks receive one event for all refs of a push. The columns have the defaults of other hooks. */
const systemDefaults = { push_events: false, repository_update_events: true };

/**
 * @throws ApiError 400 if the maximum number of hooks is reached, 422 for an address or a filter that cannot be used
 */
export async function addHook(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  owner: Owner,
  given: HookChanges & { url: string },
): Promise<HookRow> {
  const values = secretsAfter(noSecrets, given);
  await checkUrl(db, owner, given.url, values.url_variables);
  await checkFilter(given.branch_filter_strategy ?? 'wildcard', given.push_events_branch_filter ?? null);
  return db.transaction().execute(async (tx) => {
    await refuseTooMany(tx, owner);
    const { project_id, group_id } = owner;
    return tx
      .insertInto('hooks')
      .values({
        ...(kindOf(owner) === 'instance' ? systemDefaults : {}),
        ...columnsFrom(given),
        url: given.url,
        project_id,
        group_id,
        secrets: sealed(secrets, values),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

const lockedHook = async (tx: Database, owner: Owner, id: number): Promise<HookRow> =>
  found(undefined, await hooksOf(tx, owner).where('id', '=', id).forUpdate().executeTakeFirst());

/** @throws ApiError 404, 422 for an address or a filter that cannot be used */
export function changeHook(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  owner: Owner,
  id: number,
  given: HookChanges,
): Promise<HookRow> {
  return db.transaction().execute(async (tx) => {
    const before = await lockedHook(tx, owner, id);
    const url = given.url ?? before.url;
    const values = secretsAfter((url === before.url ? unsealed(secrets, before) : undefined) ?? noSecrets, given);
    if (given.url !== undefined || given.url_variables) await checkUrl(tx, owner, url, values.url_variables);
    const { branch_filter_strategy: strategy, push_events_branch_filter: filter } = {
      ...before,
      ...columnsFrom(given),
    };
    await checkFilter(strategy, filter);
    const changes = stamped({ ...columnsFrom(given), url, secrets: sealed(secrets, values, before.secrets) });
    return tx.updateTable('hooks').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
  });
}

/**
 * Sets or removes a custom header or a URL variable of a hook.
 * @param value null removes it
 * @throws ApiError 404 for removing a key that does not exist, 422 for a variable that the address needs or an address
 * that cannot be requested
 */
export async function setEntry(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  owner: Owner,
  id: number,
  { of, key, value }: { of: 'url_variables' | 'custom_headers'; key: string; value: string | null },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const row = await lockedHook(tx, owner, id);
    const values = unsealed(secrets, row) ?? noSecrets;
    const { [key]: before, ...others } = values[of];
    if (value === null) found(undefined, before);
    if (value === null && of === 'url_variables' && variablesIn(row.url).includes(key))
      throw refused(refusedTexts.variable);
    const entries = value === null ? others : { ...values[of], [key]: value };
    if (Object.keys(entries).length > maximumCustom) throw invalid({ base: [refusedTexts.custom] });
    if (of === 'url_variables') await checkUrl(tx, owner, row.url, entries);
    const changes = stamped({ secrets: sealed(secrets, { ...values, [of]: entries }, row.secrets) });
    await tx.updateTable('hooks').set(changes).where('id', '=', id).execute();
  });
}
