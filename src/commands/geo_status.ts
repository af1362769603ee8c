import { currentRows, healthOf, listedRows } from '../areas/geo/geo_nodes/index.ts';
import { areaServices } from '../areas/index.ts';
import { type Services, servicesFor } from '../services/index.ts';
import type { Command } from './command.ts';
import { briefly } from './database.ts';

const lineOf = (name: string, ...facts: string[]) => `  ${name.padEnd(27)} ${facts.filter(Boolean).join(', ')}`;

/** Formats the status of each site as lines. */
async function linesOf(services: Services): Promise<string[]> {
  const stored = await listedRows(services).execute();
  const rows = await currentRows(services, stored);
  return rows.flatMap((row, index) => {
    const { node, status } = row;
    const title = `${stored[index]!.name}${node.primary ? ' (primary)' : ''}: ${healthOf(services, row)}`;
    if (!status || node.primary) return [title];
    const copies = Object.entries(status.counts).map(([name, { count, synced_count, failed_count }]) =>
      lineOf(name, `${synced_count} of ${count} copied`, failed_count ? `${failed_count} failed` : ''),
    );
    const { db_replication_lag_seconds: lag } = status;
    return [title, ...(lag === null ? [] : [lineOf('database', `${lag} seconds behind`)]), ...copies];
  });
}

export const geoStatus: Command = {
  summary: 'Show how the sites of Geo are',
  help: 'Prints what the status of each node says: its health, how far the database of a secondary is behind, and what it has copied.',
  options: {},
  run: async (_given, config) => {
    await briefly(config, async ({ db }) => {
      const lines = await linesOf(servicesFor(config, db, areaServices));
      for (const line of lines.length > 0 ? lines : ['There are no sites.']) console.log(line);
    });
    return 0;
  },
};
