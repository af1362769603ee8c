/** The world of a test: on the server of its test file, which starts with the first and stops with the file. */
import { testDatabase } from './database.ts';
import { atFileEnd } from './file_end.ts';
import { populate, type RunningServer, startServer, type World, type WorldOptions } from './populate.ts';

export type { Persona, World, WorldOptions } from './populate.ts';

let server: Promise<RunningServer> | undefined;

/**
 * A world of its own for one test.
 * @param options how the server of this file is configured; the first world decides
 */
export async function world(options: WorldOptions = {}): Promise<World> {
  server ??= start(options);
  return populate(await server);
}

async function start(options: WorldOptions): Promise<RunningServer> {
  atFileEnd(() => {
    server = undefined;
  });
  const { db } = await testDatabase();
  const running = await startServer(db, options);
  atFileEnd(running.stop);
  return running;
}
