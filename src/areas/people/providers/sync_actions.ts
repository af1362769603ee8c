/** What a provider decides about an account at each sign-in: who is an administrator, and who is external. */
import { sql } from 'kysely';
import { type Database, takeTurn } from '../../../db/index.ts';
import type { Provider, Stated } from '../../../identity_providers/index.ts';
import { isInOneOf } from './rules.ts';

const administratorsOf = (provider: Provider): readonly string[] =>
  provider.type === 'ldap' ? [provider.admin_group].filter((group) => group !== undefined) : provider.admin_groups;

/** Makes somebody an administrator, or none. The last administrator stays one: otherwise nobody could change anything. */
async function setAdmin(tx: Database, user_id: number, admin: boolean): Promise<void> {
  if (!admin) await takeTurn(tx, 'the last administrator');
  await sql`
    update users set admin = ${admin}, updated_at = now()
     where id = ${user_id} and admin <> ${admin}
       and (${admin} or exists (select from users other where other.admin and other.state = 'active' and other.user_type = 'human' and other.id <> ${user_id}))`.execute(
    tx,
  );
}

async function setExternal(tx: Database, user_id: number, external: boolean): Promise<void> {
  await sql`
    update users set external = ${external}, updated_at = now() where id = ${user_id} and external <> ${external}`.execute(
    tx,
  );
}

/** Changes the state of an account that is in another one. */
export async function setState(tx: Database, user_id: number, from: string, to: string): Promise<void> {
  await sql`update users set state = ${to}, updated_at = now() where id = ${user_id} and state = ${from}`.execute(tx);
}

/**
 * Makes an account follow the groups of the person. A provider that has said nothing of groups changes nothing. Somebody who was gone and is there again is active again.
 */
export async function syncAccount(
  tx: Database,
  provider: Provider,
  user_id: number,
  { groups }: Pick<Stated, 'groups'>,
): Promise<void> {
  if (groups !== undefined) {
    const administrators = administratorsOf(provider);
    if (administrators.length > 0) await setAdmin(tx, user_id, isInOneOf(groups, administrators));
    if (provider.external_groups.length > 0)
      await setExternal(tx, user_id, provider.external || isInOneOf(groups, provider.external_groups));
  }
  if (provider.type === 'ldap') await setState(tx, user_id, 'ldap_blocked', 'active');
}
