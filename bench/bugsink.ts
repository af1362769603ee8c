/** Bugsink, in its newest version from PyPI and with SQLite, as it is installed by default: the baseline of error tracking. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { ownAddress } from '../test/support/address.ts';

const run = promisify(execFile);
const startTimeout_ms = 30_000;

export interface Bugsink {
  url: string;
  /** The path that takes envelopes, with the key of a project. */
  collector: string;
  /** How many events it has grouped. */
  digested(): number;
  /** How many wait to be grouped. */
  waiting(): number;
}

/** As its documentation configures a server, without limits of events and without telling its maker of itself. */
const configuration = (folder: string, url: string) => `
from bugsink.settings.default import *
SECRET_KEY = "for-one-run-of-the-benchmark-only-${'x'.repeat(32)}"
DATABASES["default"]["NAME"] = "${folder}/db.sqlite3"
DATABASES["snappea"]["NAME"] = "${folder}/snappea.sqlite3"
SNAPPEA = {"TASK_ALWAYS_EAGER": False, "NUM_WORKERS": 4, "PID_FILE": None, "WAKEUP_CALLS_DIR": "${folder}/wakeup"}
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
BUGSINK = {
    "BASE_URL": "${url}",
    "DIGEST_IMMEDIATELY": False,
    "PHONEHOME": False,
    "INGEST_STORE_BASE_DIR": "${folder}/ingestion",
    **{f"MAX_EVENTS_{scope}{period}": 10**9 for scope in ("", "PER_PROJECT_") for period in ("PER_5_MINUTES", "PER_HOUR", "PER_MONTH")},
}
ALLOWED_HOSTS = ["*"]
`;

const project = `
from projects.models import Project
project = Project.objects.create(name="shop", retention_max_event_count=10**6)
print(f"{project.id} {project.sentry_key.hex}")
`;

async function install(folder: string): Promise<void> {
  await run('python3', ['-m', 'venv', '--without-pip', folder]);
  await run('python3', ['-m', 'pip', '--python', path.join(folder, 'bin/python'), 'install', '--quiet', 'bugsink']);
}

async function untilItAnswers(url: string): Promise<void> {
  for (const giveUpAt = Date.now() + startTimeout_ms; Date.now() < giveUpAt; ) {
    if (await fetch(url, { redirect: 'manual' }).catch(() => undefined)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('Bugsink does not answer');
}

/**
 * Installs Bugsink and runs it while `work` lasts.
 * @param folder does not exist yet
 * @returns what `work` does, or why Bugsink cannot be had on this machine
 */
export async function withBugsink<T>(
  folder: string,
  work: (bugsink: Bugsink) => Promise<T>,
): Promise<T | { missing: string }> {
  try {
    await install(folder);
  } catch (error) {
    const { message, stderr = '' } = error as Error & { stderr?: string };
    return { missing: `Bugsink cannot be had: ${stderr.trim().split('\n').at(-1) || message}` };
  }
  const { COPPICE_URL, COPPICE_PORT } = await ownAddress();
  const url = COPPICE_URL!;
  for (const name of ['wakeup', 'ingestion']) await mkdir(path.join(folder, name), { mode: 0o700 });
  await writeFile(path.join(folder, 'bugsink_conf.py'), configuration(folder, url));
  const options = {
    cwd: folder,
    env: { PATH: process.env.PATH, PYTHONPATH: folder, DJANGO_SETTINGS_MODULE: 'bugsink_conf', LANG: 'C.UTF-8' },
  };
  const at = (name: string) => path.join(folder, 'bin', name);
  await run(at('bugsink-manage'), ['migrate'], options);
  await run(at('bugsink-manage'), ['migrate', 'snappea', '--database=snappea'], options);
  const { stdout } = await run(at('bugsink-manage'), ['shell', '-c', project], options);
  const [id, key] = stdout.trim().split('\n').at(-1)!.split(' ');
  // Workers with threads keep connections. Where a server closes them, autocannon counts each request twice and sends too few.
  const workers = ['--workers=4', '--worker-class=gthread', '--threads=8'];
  const listening = [`--bind=127.0.0.1:${COPPICE_PORT}`, ...workers, '--log-level=error', 'bugsink.wsgi'];
  const children: ChildProcess[] = [
    spawn(at('bugsink-runsnappea'), [], { ...options, stdio: 'ignore' }),
    spawn(at('gunicorn'), listening, { ...options, stdio: ['ignore', 'ignore', 'inherit'] }),
  ];
  const ended = children.map((child) => once(child, 'exit'));
  const [events, tasks] = ['db', 'snappea'].map(
    (name) => new DatabaseSync(path.join(folder, `${name}.sqlite3`), { readOnly: true }),
  );
  const countIn = (database: DatabaseSync | undefined, what: string) =>
    (database!.prepare(`select ${what} as count`).get() as { count: number }).count;
  try {
    await untilItAnswers(url);
    return await work({
      url,
      collector: `/api/${id}/envelope/?sentry_key=${key}`,
      digested: () => countIn(events, '(select digested_event_count from projects_project)'),
      waiting: () => countIn(tasks, '(select count(*) from snappea_task)'),
    });
  } finally {
    events?.close();
    tasks?.close();
    for (const child of children) child.kill();
    await Promise.all(ended);
  }
}
