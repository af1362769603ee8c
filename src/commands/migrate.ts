import type { Command } from './command.ts';
import { briefly } from './database.ts';

export const migrate: Command = {
  summary: 'Migrate the database, as `serve` does when it starts',
  help: 'Run it before updating several machines one after another. An older version can keep serving meanwhile.',
  options: {},
  run: (_given, config) =>
    briefly(config, async ({ migrated }) => {
      console.log(migrated.length === 0 ? 'The database is up to date.' : `The database was migrated: ${migrated.join(', ')}.`);
      return 0;
    }),
};
