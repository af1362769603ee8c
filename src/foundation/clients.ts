/**
 * The client that this process currently works for. It is stored in async context instead of passed as an argument: scarce resources (the event loop, threads, git
 * processes) are shared among clients where they are acquired, and the hundred functions between a door and that place need not pass it on.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Client {
  /** The origin of the request, as `sourceOf` names it. */
  readonly source: string;
  /** The id of the user, once identified. */
  person?: number;
  /** The address of the client, where it matters to what it may see. */
  readonly address?: string;
  /** The ids of top-level groups that are hidden from its address; absent for none. */
  hidden_groups?: readonly number[];
}

const clients = new AsyncLocalStorage<Client>();

/** Runs work on behalf of a client. */
export const workFor = <T>(client: Client, work: () => T): T => clients.run(client, work);

/** The current client; undefined for work of the server itself. */
export const currentClient = (): Client | undefined => clients.getStore();

/** Whether groups are hidden from the current client, so that what is kept for all clients is not for it, nor its own for others. */
export const isKeptFromGroups = (): boolean => (currentClient()?.hidden_groups?.length ?? 0) > 0;

/** The owner for fair queues: the user, the address of an anonymous client, or the server itself, which counts as one more client. */
export function currentOwner(): string {
  const client = clients.getStore();
  if (!client) return '';
  return client.person === undefined ? client.source : `user ${client.person}`;
}
