/** The world of a test: on the server of its test file, which starts with the first and stops with the file. */
import { after } from 'node:test';
import { testDatabase } from './database.ts';
import { populate, type RunningServer, startServer, type World, type WorldOptions } from './populate.ts';

export type { Person, Persona, World, WorldOptions } from './populate.ts';

let server: Promise<RunningServer> | undefined;

after(async () => (await server?.catch(() => undefined))?.stop());

/**
 * A world of its own for one test.
 * @param options how the server of this file is configured; the first world decides
 */
export async function world(options: WorldOptions = {}): Promise<World> {
  server ??= testDatabase().then(({ db }) => startServer(db, options));
  return populate(await server);
}
