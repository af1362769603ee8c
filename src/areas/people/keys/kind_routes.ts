/** The routes of a kind of keys, SSH or GPG: for the caller's own keys and for those of other users. */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import { admin, anyone, type MaybeCaller, signedIn } from '../../../access/index.ts';
import type { Database, DB } from '../../../db/index.ts';
import {
  type Access,
  type AnyEndpoint,
  accepted,
  type Caller,
  del,
  found,
  get,
  Id,
  IdOrName,
  nothing,
  one,
  pageOf,
  post,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { userIdNamed } from '../users/queries.ts';

export interface KeyKind<Input extends TProperties, Reply extends TSchema, Table extends keyof DB> {
  /** The name of the table, which is also the last part of the path. */
  table: Table;
  /** The noun in operation names, in refusals, and in sentences with its article. */
  operation: string;
  missing: string;
  name: string;
  article: 'a' | 'an';
  reply: Reply;
  input: Input;
  /** The description of the operation that adds a key, and the refusal of a key that is taken. */
  description: string;
  taken: string;
  /** Whether a key can be revoked, which deletes it. */
  revocable: boolean;
  rows(db: Database, user_id: number): SelectQueryBuilder<DB, Table, Static<Reply>>;
  /** @throws ApiError 400 with the reasons by field */
  add(db: Database, user_id: number, input: Static<TObject<Input>>): Promise<Static<Reply>>;
  /** Triggers hooks for a key that is about to be deleted. */
  tellOfRemoval?(tx: Database, id: number): Promise<void>;
}

/** The keys of one user, and who may read and change them. */
interface KeyOwner {
  path: string;
  operation: 'Own' | 'User';
  /** Texts for sentences: the owner of the keys, as subject and as possessive. */
  user: string;
  whose: string;
  read: Access<{ caller: MaybeCaller }>;
  change: Access<{ caller: Caller }>;
  named: TProperties;
  /** The refusal for an unknown user. */
  missing: string[];
  user_id(db: Database, caller: MaybeCaller, input: object): number | Promise<number>;
}

const own: KeyOwner = {
  path: '/user',
  operation: 'Own',
  user: 'the current user',
  whose: "the current user's",
  read: signedIn,
  change: signedIn,
  named: {},
  missing: [],
  user_id: (_db, caller) => caller!.id,
};

const ofUser: KeyOwner = {
  path: '/users/:id',
  operation: 'User',
  user: 'a user',
  whose: "a user's",
  read: anyone,
  change: admin,
  missing: ['404 User Not Found'],
  named: { id: IdOrName('ID or username') },
  user_id: (db, _caller, input) => userIdNamed(db, (input as { id: number | string }).id),
};

function routesAt<Input extends TProperties, Reply extends TSchema, Table extends keyof DB>(
  { path, operation: prefix, user, whose, read, change, named, missing, user_id }: KeyOwner,
  kind: KeyKind<Input, Reply, Table>,
): AnyEndpoint[] {
  const base = `${path}/${kind.table}`;
  const operation = `${prefix}${kind.operation}`;
  const scopes = ['read_user'];
  const single = { ...named, key_id: Id };
  const userRefusals: Record<number, string[]> = missing.length > 0 ? { 404: missing } : {};
  const refusals = { 404: [...missing, `404 ${kind.missing} Not Found`] };
  const keyOf = async (db: Database, id: number, key_id: number) => {
    const [key] = await kind.rows(db, id).where(sql<boolean>`id = ${key_id}`).execute();
    return found(kind.missing, key);
  };
  const remove = (db: Database, id: number, key_id: number): Promise<void> =>
    db.transaction().execute(async (tx) => {
      await keyOf(tx, id, key_id);
      await kind.tellOfRemoval?.(tx, key_id);
      const { rows } = await sql`
        delete from ${sql.table(kind.table)} where user_id = ${id} and id = ${key_id} returning id`.execute(tx);
      found(kind.missing, rows[0]);
    });
  return [
    get(base, {
      operation: `list${operation}s`,
      summary: `List ${whose} ${kind.name}s`,
      access: read,
      scopes,
      input: { ...named, ...paging },
      returns: pageOf(kind.reply),
      refusals: userRefusals,
      handle: async ({ db, caller, input }) =>
        paginate(db, kind.rows(db, await user_id(db, caller, input)).orderBy(sql`id`), input),
    }),
    get(`${base}/:key_id`, {
      operation: `get${operation}`,
      summary: `Show one of ${whose} ${kind.name}s`,
      access: read,
      scopes,
      input: single,
      returns: one(kind.reply),
      refusals,
      handle: async ({ db, caller, input }) => keyOf(db, await user_id(db, caller, input), input.key_id),
    }),
    post(base, {
      operation: `create${operation}`,
      summary: `Add ${kind.article} ${kind.name} for ${user}`,
      description: kind.description,
      access: change,
      input: { ...named, ...kind.input },
      returns: one(kind.reply),
      refusals: { 400: [kind.taken, 'key: <reason>'], ...userRefusals },
      handle: async ({ db, caller, input }) =>
        kind.add(db, await user_id(db, caller, input), input as Static<TObject<Input>>),
    }),
    ...(kind.revocable
      ? [
          post(`${base}/:key_id/revoke`, {
            operation: `revoke${operation}`,
            summary: `Revoke one of ${whose} ${kind.name}s, which deletes it`,
            access: change,
            input: single,
            returns: accepted,
            refusals,
            handle: async ({ db, caller, input }) => remove(db, await user_id(db, caller, input), input.key_id),
          }),
        ]
      : []),
    del(`${base}/:key_id`, {
      operation: `delete${operation}`,
      summary: `Delete one of ${whose} ${kind.name}s`,
      access: change,
      input: single,
      returns: nothing,
      refusals,
      handle: async ({ db, caller, input }) => remove(db, await user_id(db, caller, input), input.key_id),
    }),
  ];
}

export const keyRoutesOf = <Input extends TProperties, Reply extends TSchema, Table extends keyof DB>(
  kind: KeyKind<Input, Reply, Table>,
): AnyEndpoint[] => [own, ofUser].flatMap((owner) => routesAt(owner, kind));
