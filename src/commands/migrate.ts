import type { Command } from './command.ts';
import { briefly } from './database.ts';

export const migrate: Command = {
  summary: 'Migrate the database, as `serve` does when it starts',
  help: 'It is refused while another process of Coppice uses the database: stop the servers of all machines first.',
  options: {},
  run: (_given, config) =>
    briefly(config, async ({ migrated }) => {
      console.log(
        migrated.length === 0 ? 'The database is up to date.' : `The database was migrated: ${migrated.join(', ')}.`,
      );
      return 0;
    }),
};
