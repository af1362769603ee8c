import type { Command } from './command.ts';
import { briefly } from './database.ts';

export const migrate: Command = {
  summary: 'Bring the database up to date, as `serve` does when it starts',
  help: 'Run it before updating several machines one after the other. It may run while an older version serves.',
  options: {},
  run: (_given, config) =>
    briefly(config, async ({ migrated }) => {
      console.log(
        migrated.length === 0
          ? 'The database is up to date.'
          : `The database has been brought up to date: ${migrated.join(', ')}.`,
      );
      return 0;
    }),
};
