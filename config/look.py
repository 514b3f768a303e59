"""Settings of django-unfold: appearance and side bar of the desk.

Functions are given by name, so that processes without pages need not import them.
"""

UNFOLD = {
    "SITE_TITLE": "parceldesk",
    "SITE_HEADER": "parceldesk",
    "SITE_SUBHEADER": "desk.common.appearance.zone_line",
    "SITE_SYMBOL": "package_2",
    "SITE_URL": None,
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": "desk.common.appearance.icon"}
    ],
    "DASHBOARD_CALLBACK": "desk.reports.dashboard.first_page",
    "LOGIN": {"form": "desk.people.signing_in.LoginForm"},
    "ACCOUNT": {"navigation": "desk.common.appearance.account_pages"},
    "ENVIRONMENT": "config.pages.environment_badge",
    # A search over all tables would be the most expensive page; search_callback finds tickets only.
    "COMMAND": {
        "search_models": False,
        "search_callback": "desk.queue.search.palette",
        "show_history": False,
    },
    "COLORS": {
        # Unfold's own have too little contrast: 4.5 to 1 is the minimum.
        "font": {
            "subtle-light": "var(--color-base-600)",
            "subtle-dark": "var(--color-base-300)",
            "default-light": "var(--color-base-700)",
            "default-dark": "var(--color-base-200)",
            "important-light": "var(--color-base-900)",
            "important-dark": "var(--color-base-100)",
        },
        "primary": {
            "50": "oklch(97.1% .013 230)",
            "100": "oklch(93.6% .03 230)",
            "200": "oklch(88.5% .06 230)",
            "300": "oklch(82% .1 230)",
            "400": "oklch(74% .13 232)",
            "500": "oklch(60% .13 240)",
            "600": "oklch(50% .13 245)",
            "700": "oklch(44% .12 247)",
            "800": "oklch(38% .1 248)",
            "900": "oklch(33% .08 249)",
            "950": "oklch(25% .06 250)",
        },
    },
    "SIDEBAR": {
        "navigation": "desk.queue.sidebar.navigation",
        "show_all_applications": True,
    },
}
