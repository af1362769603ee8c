import type { Advisory } from '../advisories/index.ts';
import { InvalidRecord, readRecord } from '../advisories/records.ts';
import { type RecordFile, recordFiles, UnreadableSource } from '../advisories/sources.ts';
import { applyAdvisories, storeAdvisories } from '../areas/code/vulnerabilities/index.ts';
import type { Database } from '../db/index.ts';
import { counted } from '../texts/index.ts';
import { type Command, OperatorError } from './command.ts';
import { briefly } from './database.ts';

export const advisoriesImport: Command = {
  summary: 'Import advisories about vulnerable packages',
  help: `npm run coppice -- advisories import PATH

PATH is a folder or a zip of OSV records (JSON), such as the all.zip that osv.dev publishes for each ecosystem, or one
record. Records that have not changed since the last import are left alone, and withdrawn ones are removed. Broken
records are named and left out. The dependencies of all projects are compared with what has changed.`,
  options: {},
  operand: 'FILE or FOLDER',
  run: async (given, config) => {
    const place = given.operand!;
    const result = await briefly(config, ({ db }) => importFrom(db, place));
    console.log(
      `${counted(result.read, 'record')} read: ${result.changed} new, changed or withdrawn, ${result.broken} broken.`,
    );
    return result.read === 0 ? 1 : 0;
  },
};

/** Records that are stored by one transaction. */
const batch = 500;
const maximumNamed = 20;
const progress_ms = 2_000;

interface Result {
  read: number;
  changed: number;
  broken: number;
}

/** Prints the progress if the last message is old enough. */
function progress(): (result: Result) => void {
  let next = Date.now() + progress_ms;
  return ({ read }) => {
    if (Date.now() < next) return;
    console.error(`${read} records read …`);
    next = Date.now() + progress_ms;
  };
}

async function advisoryIn(file: RecordFile): Promise<Advisory | InvalidRecord> {
  try {
    return readRecord(await file.content());
  } catch (error) {
    if (error instanceof InvalidRecord) return error;
    throw error;
  }
}

async function importFrom(db: Database, place: string): Promise<Result> {
  const result: Result = { read: 0, changed: 0, broken: 0 };
  const package_version_ids = new Set<number>();
  let waiting = new Map<string, Advisory>();
  let storing: Promise<void> = Promise.resolve();
  const storeAll = async (advisories: readonly Advisory[]) => {
    const stored = await storeAdvisories(db, advisories);
    result.changed += stored.changed;
    for (const id of stored.package_version_ids) package_version_ids.add(id);
  };
  /** The database stores a batch while the next one is read. */
  const store = async () => {
    await storing;
    storing = storeAll([...waiting.values()]);
    storing.catch(() => {}); // handled where it is awaited
    waiting = new Map();
  };
  const show = progress();
  try {
    for await (const file of recordFiles(place)) {
      const advisory = await advisoryIn(file);
      if (advisory instanceof InvalidRecord) {
        if (result.broken++ < maximumNamed) console.error(`${file.name}: ${advisory.message}.`);
        continue;
      }
      result.read += 1;
      waiting.set(advisory.record_id, advisory);
      if (waiting.size === batch) await store();
      show(result);
    }
  } catch (error) {
    await storing;
    throw error instanceof UnreadableSource ? new OperatorError(error.message) : error;
  }
  await store();
  await storing;
  console.error('Comparing the dependencies of projects …');
  await applyAdvisories(db, [...package_version_ids]);
  return result;
}
