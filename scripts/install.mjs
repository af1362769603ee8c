// Runs at the beginning of npm scripts, not as a script before them, which npm skips with `ignore-scripts`. Plain JavaScript without dependencies: on a bare clone there is nothing but the Node of the system.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { linkNode } from './link_node.mjs';

const top = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

const major = Number.parseInt(process.versions.node, 10);

if (major < 20) {
  console.error(`Coppice needs Node 20 or later; this is ${process.version}.`);
  process.exit(1);
}
if (!isInstalled()) await install();
if (major < 24 && !existsSync(path.join(top, 'node_modules', `node-${process.platform}-${process.arch}`))) {
  console.error(
    `Coppice needs Node 24 or later, and brings it only for Linux on x64 and arm64. This is ${process.version}.`,
  );
  process.exit(1);
}

/**
 * Compared by content: times tell little, since git gives a file the time of its checkout. npm notes in node_modules what it has
 * installed, when it is done. Packages for other machines are optional and missing, and an image may leave out what only tests need.
 */
function isInstalled() {
  const installed = packagesOf('node_modules/.package-lock.json');
  if (installed === undefined) return false;
  const forTests = process.env.npm_lifecycle_event === 'test';
  return Object.entries(packagesOf('package-lock.json') ?? {}).every(([name, wanted]) => {
    if (name === '') return true; // this project itself
    const found = installed[name];
    if (found === undefined) return wanted.optional || wanted.devOptional || (wanted.dev && !forTests);
    return found.version === wanted.version && found.integrity === wanted.integrity;
  });
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(path.join(top, file), 'utf8')).packages;
  } catch {
    return undefined;
  }
}

async function install() {
  console.log(
    'Installing what Coppice is built on; this takes about a minute, and happens again only when package-lock.json changes.',
  );
  if (major < 22)
    console.log(`Node ${process.version} is out of support. Node 24 is recommended; Coppice runs on one of its own.`);
  // npm tells its scripts where it is and which Node runs it: not the one in node_modules, which is about to be replaced.
  const { npm_execpath: npm, npm_node_execpath: node } = process.env;
  const [program, first] = npm && node ? [node, [npm]] : ['npm', []];
  const npmCi = spawn(program, [...first, 'ci', '--ignore-scripts', '--loglevel=http', '--progress=false'], {
    cwd: top,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // npm draws its progress only on a terminal, and this is the first thing that a newcomer waits for. It fetches all packages before it unpacks the first.
  const progress = { fetched: 0, wanted: packagesOfThisMachine() };
  createInterface(npmCi.stderr).on('line', (line) => {
    if (/^npm http .*\.tgz/.test(line)) progress.fetched++;
    else if (line.startsWith('npm error')) console.error(line);
  });
  const telling = setInterval(tellProgress, 3000, progress);
  const [status] = await once(npmCi, 'close').catch(() => [1]);
  clearInterval(telling);
  if (status === 0) return linkNode();
  console.error('The installation failed. `npm ci` tells more; it needs to reach the npm registry.');
  process.exit(1);
}

function packagesOfThisMachine() {
  const is = (allowed, here) => allowed === undefined || allowed.includes(here);
  return Object.entries(packagesOf('package-lock.json') ?? {})
    .filter(([name, { os, cpu }]) => name !== '' && is(os, process.platform) && is(cpu, process.arch))
    .map(([name]) => name);
}

function tellProgress({ fetched, wanted }) {
  const installed = wanted.filter((name) => existsSync(path.join(top, name, 'package.json'))).length;
  const [verb, count] = installed > 0 ? ['Installed', installed] : ['Fetched', Math.min(fetched, wanted.length)];
  console.log(`${verb} ${count} of ${wanted.length} packages.`);
}
