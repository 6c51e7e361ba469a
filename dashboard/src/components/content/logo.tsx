/** The logo: three bars, as in the chart. */
export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 20 20" width="20" height="20" aria-hidden>
      <rect x="1" y="9" width="4.5" height="10" rx="1.25" className="fill-web" />
      <rect x="7.75" y="1" width="4.5" height="18" rx="1.25" className="fill-api" />
      <rect x="14.5" y="5.5" width="4.5" height="13.5" rx="1.25" className="fill-other" />
    </svg>
  );
}
