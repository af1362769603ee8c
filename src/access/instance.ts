/** Access rules that grant only the caller. */
import type { RawBuilder } from 'kysely';
import type { Access, Caller } from '../http/endpoint.ts';
import { forbidden, unauthorized } from '../http/errors.ts';

/** A caller who may be anonymous. */
export type MaybeCaller = Caller | undefined;

/** A caller as predicates need them; in a statement that is compiled once, the ID is an expression. */
export type Reading = (Pick<Caller, 'admin' | 'external'> & { id: number | RawBuilder<number> }) | undefined;

/** Admits everyone, signed in or not. */
export const anyone: Access<{ caller: MaybeCaller }> = {
  rule: 'anyone',
  anonymous: true,
  check: async ({ caller }) => ({ caller }),
};

/** Admits every caller with a valid token. */
export const signedIn: Access<{ caller: Caller }> = {
  rule: 'signed in',
  async check({ caller }) {
    if (!caller) throw unauthorized();
    return { caller };
  },
};

/** Admits administrators. */
export const admin: Access<{ caller: Caller }> = {
  rule: 'admin',
  async check({ caller }) {
    if (!caller) throw unauthorized();
    if (!caller.admin) throw forbidden();
    return { caller };
  },
};
