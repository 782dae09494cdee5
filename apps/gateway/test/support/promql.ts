/** A minimal PromQL parser: finds the selectors of an expression and the labels it groups by. */

const WORDS = new Set(["and", "or", "unless", "bool", "offset", "group_left", "group_right", "Inf", "NaN"]);
const GROUPING = /\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g;
const NAME = /(?<![\w.:])([a-zA-Z_:][\w:]*)(\s*\()?/g;

/** Returns the metrics with their labels, and the labels after `by`, `on` and `without`. */
export function parseExpression(expression: string) {
  const groupings = [...expression.matchAll(GROUPING)].flatMap(([, list = ""]) => list.split(/\s*,\s*/));
  const matchers: string[] = [];
  const bare = expression
    .replace(GROUPING, " ")
    .replace(/\{([^}]*)\}/g, (_, list: string) => `@${matchers.push(list) - 1} `)
    .replace(/\[[^\]]*\]/g, " ");
  const selectors = [...bare.matchAll(NAME)].flatMap(({ 0: whole, 1: metric = "", 2: call, index }) => {
    if (call !== undefined || WORDS.has(metric)) return [];
    const matcher = /^@(\d+)/.exec(bare.slice(index + whole.length))?.[1];
    const list = matcher === undefined ? "" : (matchers[Number(matcher)] ?? "");
    return [{ metric, labels: [...list.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label) }];
  });
  return { selectors, groupings };
}
