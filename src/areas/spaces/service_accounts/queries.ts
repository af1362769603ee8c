/** Queries and access rules of service accounts. */
import { type SelectQueryBuilder, sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import { type Group, groupRole } from '../../../access/index.ts';
import type { Database, DB } from '../../../db/index.ts';
import { type Access, ApiError, badRequest, type Caller, forbidden, found, type Page } from '../../../http/index.ts';
import { keysetPaging, paginate, paginateByKey } from '../../../lists/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { isTaken } from '../../people/emails/index.ts';
import type { ServiceAccountRow } from './present.ts';

const owner = groupRole('owner');

const columns = [
  'users.id',
  'users.username',
  'users.name',
  'users.email',
  'users.public_email',
  'users.unconfirmed_email',
] as const;

/** All service accounts, including those of groups. */
export const accountsIn = (db: Database) =>
  db.selectFrom('users').select(columns).where('users.user_type', '=', sql.lit('service_account'));

/** The service accounts of one group. */
export const accountsOf = (db: Database, group_id: number) =>
  accountsIn(db).where((q) =>
    q(
      'users.id',
      'in',
      q.selectFrom('service_accounts').select('service_accounts.user_id').where('group_id', '=', group_id),
    ),
  );

/** The parameters of lists of service accounts. */
export const listInput = {
  order_by: Type.Enum(['id', 'username'], { default: 'id' }),
  sort: Type.Enum(['asc', 'desc'], { default: 'desc' }),
  ...keysetPaging,
};

/** One page of the service accounts in `query`. */
export async function listAccounts<Row>(
  db: Database,
  query: SelectQueryBuilder<DB, 'users', Row>,
  input: Static<TObject<typeof listInput>>,
): Promise<Page<Row>> {
  const { order_by, sort } = input;
  const order = { columns: { id: 'users.id', username: 'users.username' }, order_by, sort, id: 'users.id' };
  if (input.pagination === 'keyset') return paginateByKey(db, query, input, order);
  return paginate(db, query.orderBy(sql.ref(order.columns[order_by]), sort).orderBy('users.id', sort), input);
}

/** The service account with an ID, which must exist. */
export const accountNumbered = (db: Database, id: number): Promise<ServiceAccountRow> =>
  accountsIn(db).where('users.id', '=', id).executeTakeFirstOrThrow();

/**
 * Refuses users who are not service accounts.
 * @throws ApiError 404, 400 for other users
 */
export async function checkAccount(db: Database, user_id: number): Promise<void> {
  const query = db.selectFrom('users').select('user_type').where('id', '=', user_id);
  const { user_type } = found(undefined, await query.executeTakeFirst());
  if (user_type !== 'service_account') throw badRequest('400 Bad request - User is not a service account');
}

/** The text for other users. */
export const notOfType = '400 Bad request - User is not of type Service Account';

/**
 * Refuses users who are not service accounts of a group.
 * @throws ApiError 404 also for those of other groups and of the instance, 400 for other users
 */
export async function checkAccountOf(db: Database, group_id: number, user_id: number): Promise<void> {
  const query = db
    .selectFrom('users')
    .leftJoin('service_accounts', 'service_accounts.user_id', 'users.id')
    .select(['users.user_type', 'service_accounts.group_id'])
    .where('users.id', '=', user_id);
  const user = found('User', await query.executeTakeFirst());
  if (user.user_type !== 'service_account') throw badRequest(notOfType);
  found('User', user.group_id === group_id ? user : undefined);
}

/**
 * Reasons against names and addresses that are already taken.
 * @param user_id the account to update; omitted for a new one
 */
export async function takenReasons(
  db: Database,
  user_id: number | undefined,
  { email = null, username = null }: { email?: string | null; username?: string | null },
): Promise<{ email: string[]; username: string[] }> {
  const other = user_id ?? null;
  const { rows } = await sql<{ email: boolean; username: boolean }>`
    select ${isTaken(email, other)} as email,
           exists (select from users where username = ${username} and id is distinct from ${other}::bigint)
             or exists (select from namespaces where full_path = ${username}) as username`.execute(db);
  const reasons = (isTaken: boolean) => (isTaken ? ['has already been taken'] : []);
  return { email: reasons(rows[0]!.email), username: reasons(rows[0]!.username) };
}

/**
 * Grants the group in `:id` to callers who manage its service accounts: administrators, and its owners when the setting allows it.
 * @param refusal the error for other callers who can see the group
 */
export const accountManagers = (refusal: () => ApiError = forbidden): Access<{ caller: Caller; group: Group }> => ({
  rule: 'group:owner, as the settings say',
  async check(call) {
    const granted = await owner.check(call).catch((error: unknown) => {
      throw error instanceof ApiError && error.status === 403 ? refusal() : error;
    });
    const { allow_top_level_group_owners_to_create_service_accounts: isAllowed } = await settingsOf(call.db);
    if (!granted.caller.admin && !isAllowed) throw refusal();
    return granted;
  },
});

/**
 * The same for endpoints that create credentials. Project and group access tokens are excluded: if they could create others, revoking them would not help.
 * @param refusal as for `accountManagers`
 */
export function accountMakers(refusal: () => ApiError = forbidden): Access<{ caller: Caller; group: Group }> {
  const managers = accountManagers(refusal);
  return {
    ...managers,
    async check(call) {
      const granted = await managers.check(call);
      if (['project', 'group'].includes(granted.caller.token.kind)) throw refusal();
      return granted;
    },
  };
}
