/** The names and marks of providers that users recognise, by the host of the issuer, and the marks of our own ways to log in. */

interface Brand {
  readonly name: string;
  /** The content of an SVG. */
  readonly mark: string;
  readonly size: number;
}

const GOOGLE: Brand = {
  name: "Google",
  size: 18,
  mark: `<path fill="#4285f4" d="M17.64 9.2c0-.64-.06-1.25-.16-1.84H9v3.48h4.84a4.14 4.14 0 0 1-1.8 2.72v2.26h2.92c1.7-1.57 2.68-3.88 2.68-6.62z"/><path fill="#34a853" d="M9 18c2.43 0 4.47-.8 5.96-2.18l-2.92-2.26c-.8.54-1.84.86-3.04.86-2.34 0-4.33-1.58-5.04-3.71H.96v2.33A9 9 0 0 0 9 18z"/><path fill="#fbbc05" d="M3.96 10.71a5.41 5.41 0 0 1 0-3.42V4.96h-3a9 9 0 0 0 0 8.08z"/><path fill="#ea4335" d="M9 3.58c1.32 0 2.5.45 3.44 1.35l2.58-2.58A9 9 0 0 0 .96 4.96l3 2.33C4.67 5.16 6.66 3.58 9 3.58z"/>`,
};
const MICROSOFT: Brand = {
  name: "Microsoft",
  size: 21,
  mark: `<path fill="#f25022" d="M0 0h10v10H0z"/><path fill="#7fba00" d="M11 0h10v10H11z"/><path fill="#00a4ef" d="M0 11h10v10H0z"/><path fill="#ffb900" d="M11 11h10v10H11z"/>`,
};
const GITHUB: Brand = {
  name: "GitHub",
  size: 16,
  mark: `<path fill="currentColor" d="M8 0C3.58 0 0 3.58 0 8c0 3.54 2.29 6.53 5.47 7.59.4.07.55-.17.55-.38 0-.19-.01-.82-.01-1.49-2.01.37-2.53-.49-2.69-.94-.09-.23-.48-.94-.82-1.13-.28-.15-.68-.52-.01-.53.63-.01 1.08.58 1.23.82.72 1.21 1.87.87 2.33.66.07-.52.28-.87.51-1.07-1.78-.2-3.64-.89-3.64-3.95 0-.87.31-1.59.82-2.15-.08-.2-.36-1.02.08-2.12 0 0 .67-.21 2.2.82.64-.18 1.32-.27 2-.27s1.36.09 2 .27c1.53-1.04 2.2-.82 2.2-.82.44 1.1.16 1.92.08 2.12.51.56.82 1.27.82 2.15 0 3.07-1.87 3.75-3.65 3.95.29.25.54.73.54 1.48 0 1.07-.01 1.93-.01 2.2 0 .21.15.46.55.38A8 8 0 0 0 16 8c0-4.42-3.58-8-8-8z"/>`,
};

const BRANDS: ReadonlyMap<string, Brand> = new Map([
  ["accounts.google.com", GOOGLE],
  ["login.microsoftonline.com", MICROSOFT],
]);

/** What names a provider. A GitHub Enterprise Server has a host of its own. */
interface Provider {
  readonly issuer: string;
  readonly type: "oidc" | "github";
}

const find = ({ issuer, type }: Provider): Brand | undefined =>
  type === "github" ? GITHUB : BRANDS.get(new URL(issuer).host);

export const brandOf = (provider: Provider): string | null => find(provider)?.name ?? null;

/** An SVG without a name, because the text of the button has it. */
const draw = ({ size, mark }: Pick<Brand, "size" | "mark">): string =>
  `<svg class="mark" viewBox="0 0 ${size} ${size}" aria-hidden="true">${mark}</svg>`;

/** Nothing for providers that users do not recognise. */
export function markOf(provider: Provider): string {
  const brand = find(provider);
  return brand ? draw(brand) : "";
}

const drawLines = (lines: string): string =>
  draw({
    size: 20,
    mark: `<g fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round">${lines}</g>`,
  });

export const PASSKEY_MARK = drawLines(
  `<circle cx="6.5" cy="10" r="4"/><path d="M10.5 10H18v3M14.5 10v2.5"/>`,
);
export const MAIL_MARK = drawLines(
  `<rect x="2" y="4" width="16" height="12" rx="2"/><path d="m2.5 5.5 7.5 6 7.5-6"/>`,
);
