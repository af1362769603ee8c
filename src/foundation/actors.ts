/**
 * Who acts. Audit events say it (docs/reference/audit_events.md), and the transaction in which they are written is told of it when it begins. It is stored in async
 * context instead of passed as an argument, because the hundred functions between a door and a change do not use it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { isIP } from 'node:net';

export interface Actor {
  /** The id of the user, under sudo of the administrator; -1 for those who are no users, or not known yet. */
  readonly id: number;
  readonly name: string;
  readonly email?: string | undefined;
  readonly class: 'User' | 'DeployToken' | 'ApplicationToken' | 'CLI' | 'System';
  /** The username of the user as whom an administrator acts. */
  readonly as?: string | undefined;
  /** The address of the client. */
  readonly ip?: string | undefined;
  /** The ID of the webhook's event that caused the call, according to the caller. */
  readonly cause?: string | undefined;
  /** The names of the events that are written for what is done; all by default. */
  readonly only?: readonly string[] | undefined;
}

const actors = new AsyncLocalStorage<Actor>();

/** Runs work of an actor: audit events of the transactions that begin in it name the actor. */
export const actingAs = <T>(actor: Actor, work: () => T): T => actors.run(actor, work);

/** The current actor; undefined for work of the server itself. */
export const currentActor = (): Actor | undefined => actors.getStore();

/** An address as events state it: without a zone, and none if it is something else, which proxies may send. */
export function addressOf(text: string | undefined): string | undefined {
  const [plain = ''] = (text ?? '').split('%', 1);
  return isIP(plain) === 0 ? undefined : plain;
}

/** Somebody who is not signed in. @param address of the client */
export const stranger = (address: string | undefined): Actor => ({
  id: -1,
  name: 'An unauthenticated user',
  class: 'User',
  ip: addressOf(address),
});
