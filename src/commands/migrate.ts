import type { Command } from './command.ts';
import { briefly } from './database.ts';

export const migrate: Command = {
  summary: 'Migrate the database, as `serve` does when it starts',
  help: `It is refused while another process of Coppice uses the database: stop the servers of all machines first.

There is no way back: an older version does not start on a database that a newer one has migrated. It changes nothing, names the migrations that it does not know, and exits
with code 1, and so do its other commands. Make a backup first: the older version restores it into an empty data folder.`,
  options: {},
  run: (_given, config) =>
    briefly(config, async ({ migrated }) => {
      console.log(
        migrated.length === 0 ? 'The database is up to date.' : `The database was migrated: ${migrated.join(', ')}.`,
      );
      return 0;
    }),
};
