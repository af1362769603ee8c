/**
 * On whose behalf this process works. It accompanies the work instead of being an argument: whatever is scarce (the event loop, threads, processes of git) is shared
 * among clients where it is taken, and the hundred functions between a door and that place have nothing to do with it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Client {
  /** Where the request came from, as `sourceOf` names it. */
  readonly source: string;
  /** The id of the user, once they are known. */
  person?: number;
}

const clients = new AsyncLocalStorage<Client>();

/** Works for a client. */
export const workFor = <T>(client: Client, work: () => T): T => clients.run(client, work);

/** The client that this works for; undefined for work of the server itself. */
export const currentClient = (): Client | undefined => clients.getStore();

/** Whose turn it is when this work has one: that of a person, of an address without one, or of the server itself, which counts as one more client. */
export function currentOwner(): string {
  const client = clients.getStore();
  if (!client) return '';
  return client.person === undefined ? client.source : `user ${client.person}`;
}
