import { nodes } from '../areas/instance/nodes/index.ts';
import { workerFigures } from '../jobs/index.ts';
import type { Command } from './command.ts';
import { briefly } from './database.ts';

export const nodesCommand: Command = {
  summary: 'List the servers and job processes of the site',
  help: `Prints a line for each, by name: the name, whether it runs, the machine and the process, the version, what it does, since when, when it last said that it
runs, and how many jobs it is running, separated by tabs. A process that has ended without notice is listed for a day.`,
  options: {},
  run: async (_given, config) => {
    await briefly(config, async ({ db }) => {
      const workers = await workerFigures(db);
      for (const { name, running, host, process_id, version, roles, started_at, seen_at } of await nodes(
        db,
      ).execute()) {
        const busy = workers
          .filter(({ hostname, pid }) => hostname === host && pid === process_id)
          .reduce((sum, worker) => sum + worker.busy, 0);
        const state = running ? 'running' : 'silent';
        console.log(
          [name, state, `${host}/${process_id}`, version, roles.join(','), started_at, seen_at, `${busy} jobs`].join(
            '\t',
          ),
        );
      }
    });
    return 0;
  },
};
