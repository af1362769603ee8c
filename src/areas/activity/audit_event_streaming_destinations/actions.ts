/** Adding, changing and removing streaming destinations of audit events (docs/reference/audit_events.md#streaming). */
import { randomUUID } from 'node:crypto';
import type { Owner } from '../../../access/index.ts';
import { type Database, stamped, takeTurn } from '../../../db/index.ts';
import { found, invalid, type Services } from '../../../http/index.ts';
import { checkUrl, type HookChanges, secretsAfter } from '../hooks/actions.ts';
import { wake } from '../hooks/delivery_actions.ts';
import { destinationsOf, type HookRow, noSecrets, sealed, unsealed } from '../hooks/queries.ts';
import { maximumDestinations, newVerificationToken } from './rules.ts';

/** The given values of a destination. */
export interface DestinationChanges extends Pick<HookChanges, 'signing_token' | 'custom_headers'> {
  name?: string | undefined;
  destination_url?: string | undefined;
  event_type_filters?: string[] | undefined;
  active?: boolean | undefined;
  verification_token?: string | undefined;
}

export const tooManyText = `Maximum number of streaming destinations (${maximumDestinations}) exceeded`;

type Using = Pick<Services, 'db' | 'secrets'>;

/** Serialized, so that two concurrent additions cannot exceed the limit together. */
async function refuseTooMany(tx: Database, owner: Owner): Promise<void> {
  await takeTurn(tx, `audit event destinations ${owner.group_id ?? ''}`);
  const rows = await destinationsOf(tx, owner).clearSelect().select('id').limit(maximumDestinations).execute();
  if (rows.length >= maximumDestinations) throw invalid({ base: [tooManyText] });
}

/** @throws ApiError 400 if there are as many as there can be, 422 for an address that cannot be requested */
export async function addDestination(
  { db, secrets }: Using,
  owner: Owner,
  given: DestinationChanges & { destination_url: string },
): Promise<HookRow> {
  const { name, destination_url: url, event_type_filters, active, verification_token, ...others } = given;
  const values = secretsAfter(noSecrets, { ...others, token: verification_token ?? newVerificationToken() });
  await checkUrl(db, owner, url, {});
  return db.transaction().execute(async (tx) => {
    await refuseTooMany(tx, owner);
    return tx
      .insertInto('hooks')
      .values({
        ...owner,
        name: name ?? `Destination_${randomUUID()}`,
        url,
        event_type_filters: event_type_filters ?? [],
        active: active ?? true,
        secrets: sealed(secrets, values),
        push_events: false,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

/** As after a success: what waits is sent. */
const enabled = { recent_failures: 0, disabled_until: null };

/** @throws ApiError 404, 422 for an address that cannot be requested */
export function changeDestination(
  { db, secrets }: Using,
  owner: Owner,
  id: number,
  { name, destination_url, event_type_filters, active, verification_token, ...others }: DestinationChanges,
): Promise<HookRow> {
  return db.transaction().execute(async (tx) => {
    const row = await destinationsOf(tx, owner).where('id', '=', id).forUpdate().executeTakeFirst();
    const before = found(undefined, row);
    const url = destination_url ?? before.url;
    const known = unsealed(secrets, before);
    // The headers of an address are not for another one. Who may change it can read the token.
    const kept = url === before.url ? known : known && { ...noSecrets, token: known.token };
    const token = verification_token ?? known?.token ?? newVerificationToken();
    if (url !== before.url) await checkUrl(tx, owner, url, {});
    const values = secretsAfter(kept ?? noSecrets, { ...others, token });
    const changes = { name, event_type_filters, active, url, secrets: sealed(secrets, values, before.secrets) };
    const isEnabled = active === true || url !== before.url;
    if (isEnabled && (!before.active || before.recent_failures > 0)) await wake(tx, 'new');
    return tx
      .updateTable('hooks')
      .set({ ...stamped(changes), ...(isEnabled && enabled) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}

/**
 * A group that is no longer at the top level has no destinations.
 * @param tx the transaction of the transfer
 */
export const leaveTopLevel = async (tx: Database, group_id: number): Promise<void> => {
  await tx.deleteFrom('hooks').where('group_id', '=', group_id).where('event_type_filters', 'is not', null).execute();
};
