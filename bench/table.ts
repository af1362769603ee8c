/** The table that a run of the benchmark prints. */
import type { Measured } from './measure.ts';

export interface Row {
  operation: string;
  measured: string;
  latency: string;
  cpu: string;
  /** The longest time in which the event loop of the server came to nothing else. */
  block: string;
  limit: string;
  ratio: string;
  target: string;
}

export const ms = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
/** Of the product, and of the limit beside it. */
const cpu = (product: Measured, limit?: Measured) =>
  [product, ...(limit ? [limit] : [])].flatMap(({ cpu_ms }) => cpu_ms?.toFixed(2) ?? []).join(' : ');
const block = ({ block_ms }: Measured) => (block_ms === undefined ? '' : ms(block_ms));
const latency = ({ p50_ms, p90_ms, p99_ms }: Measured) =>
  [p50_ms, p90_ms, p99_ms].map((value) => value.toFixed(1)).join(' / ');

/** How many requests a second there were, beside the limit for the same work. */
export const ratesRow = (operation: string, product: Measured, limit: Measured, target: string): Row => ({
  operation,
  measured: `${Math.round(product.rate!)}/s`,
  latency: latency(product),
  cpu: cpu(product, limit),
  block: block(product),
  limit: `${Math.round(limit.rate!)}/s`,
  ratio: limit.rate === 0 ? '–' : `${Math.round((product.rate! / limit.rate!) * 100)} %`,
  target,
});

/** How long something took, beside the limit for the same work. */
export const timesRow = (operation: string, product: Measured, limit: Measured, target: string): Row => ({
  operation,
  measured: ms(product.p50_ms),
  latency: latency(product),
  cpu: cpu(product, limit),
  block: '',
  limit: ms(limit.p50_ms),
  ratio: `${(product.p50_ms / limit.p50_ms).toFixed(2)}×`,
  target,
});

/** How long nine of ten took, beside the same with less there. */
export const besideRow = (operation: string, product: Measured, less: Measured, target: string): Row => ({
  operation,
  measured: ms(product.p90_ms),
  latency: latency(product),
  cpu: cpu(product, less),
  block: '',
  limit: ms(less.p90_ms),
  ratio: `${(product.p90_ms / less.p90_ms).toFixed(2)}×`,
  target,
});

/** What has no limit beside it. */
export const plainRow = (operation: string, measured: string, target: string, of?: Measured): Row => ({
  operation,
  measured,
  latency: of ? latency(of) : '',
  cpu: of ? cpu(of) : '',
  block: '',
  limit: '–',
  ratio: '–',
  target,
});

/** What a peer does not have. */
export const missingRow = (operation: string, product: Measured): Row =>
  plainRow(operation, product.rate === undefined ? ms(product.p50_ms) : `${Math.round(product.rate)}/s`, '', product);

export function print(rows: readonly Row[]): void {
  const head: Row = {
    operation: 'operation',
    measured: 'measured',
    latency: 'P50 / P90 / P99 (ms)',
    cpu: 'CPU (ms)',
    block: 'block',
    limit: 'limit',
    ratio: 'ratio',
    target: 'target',
  };
  const columns = Object.keys(head) as (keyof Row)[];
  const widths = columns.map((column) => Math.max(...[head, ...rows].map((row) => row[column].length)));
  const line = (row: Row) => `| ${columns.map((column, index) => row[column].padEnd(widths[index]!)).join(' | ')} |`;
  console.log(
    [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n'),
  );
}
