/** What handlers and jobs work with, as the configuration says. */
import { diskBlobs } from './blobs/index.ts';
import type { Config } from './config.ts';
import type { Database } from './db/index.ts';
import type { Services } from './http/index.ts';

export const servicesFor = ({ url, storages, blobs }: Pick<Config, 'url' | 'storages' | 'blobs'>, db: Database): Services => ({
  db,
  url,
  storages: Object.fromEntries(storages.map(({ name, path }) => [name, path])),
  blobs: diskBlobs(blobs),
});
