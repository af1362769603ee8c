/** Coppice: one executable. What it does is said by its first words. */
import { existsSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import path from 'node:path';

const words = process.argv.slice(2);

/**
 * Compiled modules are kept between starts, which spares half of their time. It has to be switched on before the first module of ours is loaded, so before
 * the configuration is read. Only servers make the data folder; NODE_COMPILE_CACHE names another place.
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
    // Whoever needs the folder says what is wrong with it.
  }
}

keepCompiled();
const { run } = await import('./commands/run.ts');
// Ended explicitly: a connection that does not close must not keep a process that has nothing left to do.
process.exit(await run(words));
