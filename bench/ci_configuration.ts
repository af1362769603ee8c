/** Configuration files of pipelines: how long a large one is compiled and checked, and how others fare meanwhile. */
import path from 'node:path';
import { compile } from '../src/ci_configuration/compile.ts';
import { startInstance } from './instance.ts';
import { inTurn, measuredFrom, p95_ms, timeOf } from './measure.ts';
import { plainRow, type Row } from './table.ts';

const jobs = 2_000;
const runs = 10;

const job = (number: number) => `
job ${number}:
  extends: .base
  stage: ${number % 2 ? 'test' : 'build'}
  script: [make ${number}, make check]
  rules:
    - if: $CI_COMMIT_BRANCH == "main"
    - changes: [src/${number}/**/*]`;

const content = `
.base:
  image: alpine
  before_script: [apk add make]
  artifacts: {paths: [build], expire_in: 1 week}
${Array.from({ length: jobs }, (_, number) => job(number)).join('')}`;

const others = 300;

async function measureLint(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'ci_configuration'));
  try {
    const { api } = instance;
    const { body: project } = await api.post('/projects', { name: 'ci', initialize_with_readme: true });
    const lint = async () => {
      const { body } = await api.post(`/projects/${project.id}/ci/lint`, { content, dry_run: true });
      if (!body.valid) throw new Error(JSON.stringify(body).slice(0, 500));
    };
    const askOthers = async () => {
      const taken_ms: number[] = [];
      while (taken_ms.length < others) taken_ms.push(await timeOf(() => api.get(`/projects/${project.id}`)));
      return taken_ms;
    };
    await lint();
    await askOthers();
    const [linted] = await inTurn(runs, lint);
    const idle_ms = await askOthers();
    let isOver = false;
    const goesOn = async () => {
      while (!isOver) await lint();
    };
    const linting = goesOn();
    const busy_ms = await askOthers();
    isOver = true;
    await linting;
    const ratio = p95_ms(busy_ms) / p95_ms(idle_ms);
    return [
      plainRow(`lint of ${jobs.toLocaleString('en')} jobs`, `${linted!.p50_ms.toFixed(0)} ms`, '≤ 1 s', linted!),
      plainRow('P95 of others meanwhile', `${ratio.toFixed(2)}×`, '≤ 2×', measuredFrom(busy_ms)),
    ];
  } finally {
    await instance.stop();
  }
}

export async function measureCiConfiguration(folder: string): Promise<Row[]> {
  const compiled = async () => {
    const { errors } = await compile({
      content,
      context: undefined,
      files: { read: async () => ({ refused: 'file_missing' }), paths: async () => [] },
      variables: new Map(),
      holds: async () => true,
    });
    if (errors.length > 0) throw new Error(errors[0]);
  };
  const [measured] = await inTurn(runs, compiled);
  return [
    plainRow(`compiling ${jobs.toLocaleString('en')} jobs`, `${measured!.p50_ms.toFixed(1)} ms`, '≤ 1 s', measured),
    ...(await measureLint(folder)),
  ];
}
