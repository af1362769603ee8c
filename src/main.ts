/** Coppice: one executable, whose first argument names the command. */
import { existsSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import path from 'node:path';

const words = process.argv.slice(2);

// Checked here, because an older Node could not even parse the rest (docs/decisions/0024).
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(`Coppice needs Node 24 or later; this is ${process.version}. \`npm start\` uses a Node of its own.`);
  process.exit(1);
}

/**
 * Caches compiled modules between starts, which halves the start time. This has to be enabled before the first module is loaded, and so before
 * the configuration is read. Only servers create the data folder; NODE_COMPILE_CACHE sets another folder.
 */
function keepCompiled(): void {
  const data = path.resolve(process.env.COPPICE_DATA || 'data');
  const isServer = words[0] === 'serve' || words[0] === 'work';
  if (process.env.NODE_COMPILE_CACHE || (!isServer && !existsSync(data))) return;
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    const folder = path.join(data, 'cache');
    enableCompileCache(folder);
    process.env.NODE_COMPILE_CACHE = folder; // for the processes that this one starts
  } catch {
    // The command that needs the folder reports the error.
  }
}

keepCompiled();
const { run } = await import('./commands/run.ts');
// Explicit, because a connection that does not close would keep the finished process alive.
process.exit(await run(words));
