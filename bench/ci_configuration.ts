/** Configuration files of pipelines: how long a large one is compiled. */
import { compile } from '../src/ci_configuration/index.ts';
import { inTurn } from './measure.ts';
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

export async function measureCiConfiguration(): Promise<Row[]> {
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
  ];
}
