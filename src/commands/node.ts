/** This process as one of the site's: it says that it runs, and does not start where it cannot work with the others (docs/operating.md#more-than-one-machine). */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import type { Logger } from 'pino';
import { addNode, type NewNode, removeNode, showNode } from '../areas/instance/nodes/index.ts';
import type { Config } from '../config.ts';
import { type Database, isUnavailable } from '../db/index.ts';
import { OperatorError } from './command.ts';
import { productVersion } from './running_node.ts';
import { readsOnly } from './site.ts';
import { storageProblem } from './storage_markers.ts';

const beat_ms = 10_000;

/** The id of a data folder, in a file of it that the first start writes. */
async function dataIdOf(data: string): Promise<string | null> {
  const file = path.join(data, 'node_id');
  try {
    await mkdir(data, { recursive: true, mode: 0o700 });
    await writeFile(file, `${randomUUID()}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return null;
  }
  const text = (await readFile(file, 'utf8')).trim();
  return /^[0-9a-f-]{36}$/.test(text) ? text : null;
}

/** Says that the process runs until it is told to end. */
function beat(db: Database, node: NewNode, log: Logger): () => void {
  let isTold = false;
  const timer = setInterval(() => {
    showNode(db, node).then(
      (taker) => {
        if (taker !== undefined && !isTold)
          log.error(
            `Another server with the node name ${node.name} has started on ${taker}. Give each its own COPPICE_NODE_NAME.`,
          );
        isTold = taker !== undefined;
      },
      (error) => {
        if (!isUnavailable(error)) log.warn({ err: error }, 'cannot say that this server runs');
      },
    );
  }, beat_ms);
  return () => clearInterval(timer);
}

/**
 * Works as one of the site's processes. A server that only reads the database does not register: its tables are those of the primary.
 * @throws OperatorError when it cannot work with the others
 */
export async function asNode(
  config: Config,
  db: Database,
  log: Logger,
  roles: NewNode['roles'],
  work: () => Promise<void>,
): Promise<void> {
  if (readsOnly(config)) return await work();
  const host = hostname();
  const answers = roles.includes('requests');
  const node: NewNode = {
    name: config.nodeName ?? `${host}:${answers ? config.port : process.pid}`,
    ...{ run: randomUUID(), host, process_id: process.pid, version: productVersion },
    ...{ url: config.url, roles, data_id: await dataIdOf(config.data) },
  };
  const isAlone = answers && config.databaseUrl === undefined;
  const problem = await addNode(db, node, isAlone, (tx, hasOthers) => storageProblem(tx, config.storages, hasOthers));
  if (problem !== undefined) throw new OperatorError(problem);
  const end = beat(db, node, log);
  try {
    await work();
  } finally {
    end();
    await removeNode(db, node).catch(() => {});
  }
}
